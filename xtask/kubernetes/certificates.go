package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority signs what the parts of the cluster show each other. RSA, as clusters have it by default.
type authority struct {
	key         *rsa.PrivateKey
	certificate *x509.Certificate
}

// newAuthority makes one and writes its certificate to path.
func newAuthority(path string) authority {
	key := newKey("")
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kubernetes"}, key)
	must("cannot make a certificate authority", err)
	writeCertificate(path, certificate.Raw)
	return authority{key, certificate}
}

// issue writes PATH.crt and PATH.key: a certificate for loopback, good for servers and for clients.
func (a authority) issue(path string, subject pkix.Name) {
	key := newKey(path + ".key")
	template := x509.Certificate{
		Subject:      subject,
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		NotBefore:    a.certificate.NotBefore,
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:     []string{"kubernetes.default.svc", "localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, a.certificate, key.Public(), a.key)
	must("cannot sign "+path, err)
	writeCertificate(path+".crt", der)
}

// newKey makes a key, and writes it to path unless that is empty.
func newKey(path string) *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must("cannot make a key", err)
	if path != "" {
		pem, err := keyutil.MarshalPrivateKeyToPEM(key)
		must("cannot encode a key", err)
		must("cannot write a key", os.WriteFile(path, pem, 0o600))
	}
	return key
}

func writeCertificate(path string, der []byte) {
	pem, err := cert.EncodeCertificates(&x509.Certificate{Raw: der})
	must("cannot encode a certificate", err)
	must("cannot write a certificate", os.WriteFile(path, pem, 0o644))
}

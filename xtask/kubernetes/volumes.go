package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/fieldpath"
)

// files are those of a volume, by their path in it.
type files map[string][]byte

// writeVolumes writes each of the pod's volumes into a folder of its name.
func (p *process) writeVolumes() error {
	for _, volume := range p.pod.Spec.Volumes {
		folder := filepath.Join(p.folder, "volumes", volume.Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		content, err := p.filesOf(volume.VolumeSource)
		if err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
		for name, bytes := range content {
			path := filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, bytes, 0o640); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *process) filesOf(source corev1.VolumeSource) (files, error) {
	switch {
	case source.Secret != nil:
		return p.secret(source.Secret.SecretName, source.Secret.Items)
	case source.ConfigMap != nil:
		return p.configMap(source.ConfigMap.Name, source.ConfigMap.Items)
	case source.Projected != nil:
		all := files{}
		for _, part := range source.Projected.Sources {
			content, err := p.projected(part)
			if err != nil {
				return nil, err
			}
			for name, bytes := range content {
				all[name] = bytes
			}
		}
		return all, nil
	case source.EmptyDir != nil:
		return files{}, nil
	default:
		return nil, fmt.Errorf("this node has no such kind of volume")
	}
}

func (p *process) projected(source corev1.VolumeProjection) (files, error) {
	switch {
	case source.Secret != nil:
		return p.secret(source.Secret.Name, source.Secret.Items)
	case source.ConfigMap != nil:
		return p.configMap(source.ConfigMap.Name, source.ConfigMap.Items)
	case source.ServiceAccountToken != nil:
		token, err := p.token(source.ServiceAccountToken.ExpirationSeconds)
		return files{source.ServiceAccountToken.Path: token}, err
	case source.DownwardAPI != nil:
		all := files{}
		for _, item := range source.DownwardAPI.Items {
			text, err := fieldpath.ExtractFieldPathAsString(p.pod, item.FieldRef.FieldPath)
			if err != nil {
				return nil, err
			}
			all[item.Path] = []byte(text)
		}
		return all, nil
	default:
		return nil, fmt.Errorf("this node has no such projected volume")
	}
}

func (p *process) secret(name string, items []corev1.KeyToPath) (files, error) {
	found, err := p.kubelet.client.CoreV1().Secrets(p.pod.Namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return chosen(found.Data, items), nil
}

func (p *process) configMap(name string, items []corev1.KeyToPath) (files, error) {
	found, err := p.kubelet.client.CoreV1().ConfigMaps(p.pod.Namespace).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	all := files{}
	for key, text := range found.Data {
		all[key] = []byte(text)
	}
	for key, bytes := range found.BinaryData {
		all[key] = bytes
	}
	return chosen(all, items), nil
}

// chosen are all, or those that are named, under the paths that are given.
func chosen(all files, items []corev1.KeyToPath) files {
	if len(items) == 0 {
		return all
	}
	some := files{}
	for _, item := range items {
		some[item.Path] = all[item.Key]
	}
	return some
}

// token asks for one that holds for this pod alone.
func (p *process) token(seconds *int64) ([]byte, error) {
	request := authv1.TokenRequest{Spec: authv1.TokenRequestSpec{
		ExpirationSeconds: seconds,
		BoundObjectRef:    &authv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.pod.Name, UID: p.pod.UID},
	}}
	given, err := p.kubelet.client.CoreV1().ServiceAccounts(p.pod.Namespace).
		CreateToken(context.Background(), p.pod.Spec.ServiceAccountName, &request, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return []byte(given.Status.Token), nil
}

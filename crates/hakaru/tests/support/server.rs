//! A server without an app.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};

/// Starts a server with the response `status` and the body `hello` for every request.
pub fn serve(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("the port");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a second handle");
                let lines = BufReader::new(stream).lines().map_while(Result::ok);
                for _ in lines.filter(String::is_empty) {
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\nhello");
                    if writer.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

//! Wires from hosts to the bridge.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::run::{Outcome, capture, root};

const BRIDGE: &str = "br0";

/// Makes the bridge of all hosts, with an address on our side.
pub(super) fn bridge(address: &str) -> Outcome<()> {
    ip(&["link", "set", "lo", "up"])?;
    ip(&["link", "add", BRIDGE, "type", "bridge"])?;
    ip(&["addr", "add", address, "dev", BRIDGE])?;
    ip(&["link", "set", BRIDGE, "up"])
}

/// Runs `ip` in the network namespace of the task.
fn ip(words: &[&str]) -> Outcome<()> {
    capture(Command::new("ip").args(words)).map(drop)
}

/// A wire of a host; a drop ends the helper, and so a slow wire.
pub(super) struct Link {
    name: String,
    wire: Option<Child>,
}

impl Link {
    /// A pair of devices, one on the bridge and one on the host.
    pub(super) fn veth(name: &str, first: u32, address: &str) -> Outcome<Link> {
        let (out, inner) = (outer(name), format!("{name}-i"));
        ip(&["link", "add", &out, "type", "veth", "peer", "name", &inner])?;
        let link = Link {
            name: name.to_owned(),
            wire: None,
        };
        connect(&out, &inner, first, address)?;
        Ok(link)
    }

    /// A wire with a round trip longer by so many milliseconds: by the kernel's own queue where
    /// there is a delaying one, else by a process for carrying the frames.
    pub(super) fn slow(name: &str, first: u32, address: &str, ms: u32) -> Outcome<Link> {
        let veth = Link::veth(name, first, address)?;
        let half = format!("{}us", ms * 500);
        let netem = |words: &[&str]| {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]);
            command.args(["root", "netem", "delay", &half]);
            capture(&mut command)
        };
        let target = first.to_string();
        let out = outer(name);
        let inside = [
            "nsenter", "-t", &target, "-n", "tc", "qdisc", "add", "dev", "eth0",
        ];
        let both = netem(&["tc", "qdisc", "add", "dev", &out]).and_then(|_| netem(&inside));
        let Err(why) = both else {
            return Ok(veth);
        };
        eprintln!("hosts: the kernel delays no frames ({why}); a process carries them instead");
        veth.cut()?;
        Link::carried(name, first, address, ms)
    }

    fn carried(name: &str, first: u32, address: &str, ms: u32) -> Outcome<Link> {
        let (out, inner) = (outer(name), format!("{name}-i"));
        let half = format!("{}", f64::from(ms) / 2.0);
        let mut ruby = Command::new("ruby");
        ruby.arg(root().join("xtask/hosts/wire.rb"))
            .args([&out, &inner, &half])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut wire = ruby
            .spawn()
            .map_err(|error| format!("cannot start `ruby`: {error}"))?;
        let mut line = String::new();
        let said = wire.stdout.take().map(BufReader::new);
        let read = said.map(|mut said| said.read_line(&mut line));
        let link = Link {
            name: name.to_owned(),
            wire: Some(wire),
        };
        if !matches!(read, Some(Ok(_))) || line != "up\n" {
            return Err("no wire of our own can be made; is there a /dev/net/tun?".to_owned());
        }
        connect(&out, &inner, first, address)?;
        Ok(link)
    }

    /// Leaves the wire in place.
    pub(super) fn keep(self) {}

    /// Takes the wire away.
    pub(super) fn cut(mut self) -> Outcome<()> {
        match self.wire.take() {
            None => cut(&self.name),
            Some(mut wire) => {
                let _ = wire.kill();
                let _ = wire.wait();
                Ok(())
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(wire) = &mut self.wire {
            let _ = wire.kill();
            let _ = wire.wait();
        }
    }
}

/// Takes a pair of devices away, of which both go with one.
pub(super) fn cut(name: &str) -> Outcome<()> {
    ip(&["link", "del", &outer(name)])
}

fn outer(name: &str) -> String {
    format!("{name}-o")
}

/// Returns the hardware address for an address such as `10.77.0.14`. A host keeps it on every wire:
/// for half a minute its neighbours send to the one they know.
fn hardware(address: &str) -> String {
    let bytes = address.split('.').map(|byte| byte.parse().unwrap_or(0u8));
    let bytes: Vec<String> = bytes.map(|byte| format!("{byte:02x}")).collect();
    format!("02:00:{}", bytes.join(":"))
}

/// Puts one end on the bridge and the other on a host.
fn connect(out: &str, inner: &str, first: u32, address: &str) -> Outcome<()> {
    let first = first.to_string();
    ip(&["link", "set", out, "master", BRIDGE, "up"])?;
    ip(&["link", "set", inner, "netns", &first])?;
    let inside = |words: &[&str]| {
        let mut command = Command::new("nsenter");
        command.args(["-t", &first, "-n", "ip"]).args(words);
        capture(&mut command).map(drop)
    };
    inside(&["link", "set", inner, "name", "eth0"])?;
    inside(&["link", "set", "eth0", "address", &hardware(address)])?;
    inside(&["addr", "add", &format!("{address}/24"), "dev", "eth0"])?;
    inside(&["link", "set", "eth0", "up"])
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_hardware_address_is_local_and_follows_the_other() {
        assert_eq!(super::hardware("10.77.0.14"), "02:00:0a:4d:00:0e");
    }
}

//! Folders missing, full, vanishing, not writable, or with foreign files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Barrier;

use capture::Rings;

use super::{answers, check_with};
use crate::support::{Client, Puma};

/// `/dev/shm` may be emptied by whoever runs beside: `systemd-logind` does so when a user logs out.
#[test]
fn rings_whose_folder_is_missing_leave_the_app_alone() {
    let app = "run ->(env) { [200, {}, [\"here\"]] }\n";
    let puma = Puma::start_prepared(&["-t", "2:2"], app, &[], |agent| {
        fs::remove_dir(agent.with_file_name("rings")).expect("it is empty");
    });
    for id in 1..5 {
        assert_eq!(puma.connect().get("/", id), Some((200, "here".to_owned())));
    }
}

#[test]
fn planted_links_and_open_folders_are_refused_for_the_agent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let precious = folder.path().join("precious");
    fs::write(&precious, "kept").expect("written");
    let planted = folder.path().join("planted");
    fs::create_dir(&planted).expect("made");
    fs::set_permissions(&planted, Permissions::from_mode(0o700)).expect("closed");
    symlink(&precious, planted.join("hakaru_agent.so")).expect("linked");
    assert!(capture::unpack_agent(&planted).is_err());
    assert_eq!(fs::read_to_string(&precious).expect("read"), "kept");

    let open = folder.path().join("open");
    fs::create_dir(&open).expect("made");
    fs::set_permissions(&open, Permissions::from_mode(0o777)).expect("opened");
    let refused = capture::unpack_agent(&open).expect_err("it is refused");
    assert!(refused.to_string().contains("other users"), "{refused}");
}

/// Nothing can be made in `/proc`, not even by root.
#[test]
fn an_app_whose_temporary_folder_cannot_be_written_answers_as_without_us() {
    let app = r#"
run ->(env) do
  File.write(File.join(ENV.fetch("TMPDIR"), "probe"), "")
  [200, {}, ["written"]]
rescue SystemCallError
  [200, {}, ["refused"]]
end
"#;
    let env = [("TMPDIR", "/proc"), ("HAKARU_PROFILE", "wall 1000 request")];
    check_with(&env, app, &[("/a", "refused"), ("/b", "refused")]);
}

/// Requests wait for each other inside, so four threads get one each, and each wants a ring.
const MEETING: &str = r#"
require "fileutils"
LOCK, MET = Mutex.new, ConditionVariable.new
$inside = 0
RINGS = ENV.fetch("HAKARU_RING_DIR")
def meet(wanted)
  LOCK.synchronize do
    $inside += 1
    MET.broadcast if $inside == wanted
    MET.wait(LOCK) until $inside >= wanted
  end
end
run ->(env) do
  case env["PATH_INFO"]
  when "/meet"
    meet(4)
    [200, {}, ["met"]]
  when "/fill"
    File.open(File.join(RINGS, "filler"), "wb") { |file| loop { file.syswrite("x" * 4096) } } rescue Errno::ENOSPC
    [200, {}, ["full"]]
  when "/unmount" then [200, {}, [system("umount", "-l", RINGS).inspect]]
  when "/remove"
    FileUtils.rm_rf(RINGS)
    File.write(RINGS, "a file where the folder was")
    [200, {}, ["removed"]]
  else [200, {}, [[41 + 1].inspect]]
  end
end
"#;

/// Sends four requests at once, which wait for each other.
fn meet(port: u16, first: u64) {
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for id in first..first + 4 {
            let start = &start;
            scope.spawn(move || {
                let mut client = Client::connect(port);
                start.wait();
                assert_eq!(client.get("/meet", id), Some((200, "met".to_owned())));
            });
        }
    });
}

/// Returns the words before a command for a mount namespace, where the user may have
/// one: as root, and as anybody else.
fn namespace() -> Option<&'static [&'static str]> {
    const WORDS: [&[&str]; 2] = [
        &["unshare", "--mount"],
        &["unshare", "--mount", "--user", "--map-root-user"],
    ];
    let can_mount = |words: &&&[&str]| {
        Command::new(words[0])
            .args(&words[1..])
            .args(["mount", "-t", "tmpfs", "tmpfs", "/mnt"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    WORDS.iter().find(can_mount).copied()
}

/// Starts Puma with so many KiB of private memory for rings.
fn with_small_memory(namespace: &[&str], kib: u32) -> Puma {
    let mount =
        format!("mount -t tmpfs -o mode=700,size={kib}k tmpfs \"$HAKARU_RING_DIR\" && exec \"$@\"");
    let wrapper = [namespace, &["sh", "-c", &mount, "mounted"]].concat();
    let env = [("HAKARU_RING_KIB", "64")];
    let mut puma = Puma::start_under(&wrapper, &["-t", "5:5"], MEETING, &env);
    let seen_from_here = format!("/proc/{}/root{}", puma.pid(), puma.rings_folder().display());
    puma.rings = Rings::new(&PathBuf::from(seen_from_here));
    puma
}

/// Without a namespace, the folder is removed and a file put in place instead.
#[test]
fn memory_that_fills_up_or_vanishes_in_the_middle_leaves_the_app_alone() {
    let Some(namespace) = namespace() else {
        println!("no mount namespace here: a file takes the place of the folder of rings");
        let mut puma = Puma::start(&["-t", "5:5"], MEETING);
        answers(&mut puma, &[("/", "[42]")]);
        assert_eq!(
            puma.connect().get("/remove", 2),
            Some((200, "removed".to_owned()))
        );
        meet(puma.port, 3);
        assert_eq!(puma.connect().get("/", 9), Some((200, "[42]".to_owned())));
        return;
    };
    // Room for the first ring and no other: each takes 64 KiB and a page.
    let mut puma = with_small_memory(namespace, 100);
    answers(&mut puma, &[("/", "[42]")]);
    let told = puma.handled.len();
    assert_eq!(
        puma.connect().get("/fill", 2),
        Some((200, "full".to_owned()))
    );
    meet(puma.port, 3);
    assert_eq!(puma.connect().get("/", 9), Some((200, "[42]".to_owned())));
    puma.poll();
    assert!(puma.handled.len() >= told, "what was told stays");

    let puma = with_small_memory(namespace, 1 << 14);
    assert_eq!(puma.connect().get("/", 1), Some((200, "[42]".to_owned())));
    assert_eq!(
        puma.connect().get("/unmount", 2),
        Some((200, "true".to_owned()))
    );
    meet(puma.port, 3);
    assert_eq!(puma.connect().get("/", 9), Some((200, "[42]".to_owned())));
}

/// Another user may make a folder of a removed one's name in `/dev/shm`, with links to our files.
#[test]
fn a_folder_of_another_user_in_the_place_of_ours_is_not_written_to() {
    let mut puma = Puma::start(&["-t", "5:5"], MEETING);
    answers(&mut puma, &[("/", "[42]")]);
    let rings = puma.rings_folder();
    let precious = rings.with_file_name("precious");
    fs::write(&precious, "kept").expect("written");
    fs::rename(&rings, rings.with_file_name("rings before")).expect("renamed");
    fs::create_dir(&rings).expect("made");
    let pid = puma.pid();
    plant(&rings, &format!("{pid}.agent"), &precious);
    (0..10).for_each(|number| plant(&rings, &format!("{pid}-{number}.ring"), &precious));
    if lchown(&rings, Some(NOBODY), Some(NOBODY)).is_err() {
        println!("not root: a folder that everybody may write stands for another user's");
        fs::set_permissions(&rings, Permissions::from_mode(0o777)).expect("opened");
    }
    meet(puma.port, 2);
    assert_eq!(puma.connect().get("/", 9), Some((200, "[42]".to_owned())));
    assert_eq!(fs::read_to_string(&precious).expect("read"), "kept");
    assert_eq!(fs::read_dir(&rings).expect("a folder").count(), 11);
    puma.poll();
    assert_eq!(puma.troubles(), [""; 0], "nothing is read from there");
}

const NOBODY: u32 = 65534;

fn plant(folder: &Path, name: &str, goal: &Path) {
    symlink(goal, folder.join(name)).expect("linked");
}

"""The cache on machines as they are: homes that are not there, not writable or another user's,
several users, disks that are full, builds that were killed."""

import os
import shutil
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import platformdirs
import pytest
from nicbed.firmware import cache, tools

from ..labs.users import ONE, OTHER, as_user

assert platformdirs.user_cache_dir  # loaded before a test becomes another user


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can reach and write, as /tmp is."""
    made = Path(tempfile.mkdtemp(dir="/tmp", prefix="nicbed ü:"))
    made.chmod(0o1777)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def no_home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment without NICBED_CACHE and HOME, with ``place`` for temporary files."""
    for name in ("NICBED_CACHE", "HOME", "XDG_CACHE_HOME", "ZIG_GLOBAL_CACHE_DIR",
                 "ZIG_LOCAL_CACHE_DIR", "YOWASP_CACHE_DIR", "MPLCONFIGDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def write(text: str = "built") -> Callable[[Path], None]:
    return lambda work: (work / "it").write_text(text) and None


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_without_a_home_it_is_a_folder_of_the_users_own(no_home: Path) -> None:
    def build() -> tuple[str, str]:
        return str(cache.entry("toy", ["a"], write())), str(tools.folder())

    built, tool = as_user(build)
    assert Path(built).parents[1] == no_home / f"nicbed-{ONE}"
    assert mode(no_home / f"nicbed-{ONE}") == 0o700
    assert (Path(built) / "it").read_text() == "built"
    assert tool == str(no_home / f"nicbed-{ONE}" / f"tools-{ONE}")


@pytest.mark.parametrize("modes", [0o755, 0o777, 0o700], ids=["read only", "writable", "closed"])
def test_another_users_home(no_home: Path, modes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner could not use what somebody else has made there."""
    home = no_home / "home"
    home.mkdir()
    home.chmod(modes)
    monkeypatch.setenv("HOME", str(home))
    built = as_user(lambda: str(cache.entry("toy", ["a"], write())))
    assert built.startswith(f"{no_home / f'nicbed-{ONE}'}/")
    assert not list(home.iterdir())
    own = as_user(lambda: tools.own())
    assert {own[name].startswith(f"{no_home / f'nicbed-{ONE}'}/") for name in own} == {True}
    assert set(own) == {"ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR", "XDG_CACHE_HOME", "HOME",
                        "YOWASP_CACHE_DIR"}
    assert set(as_user(lambda: tools.matplotlib())) == {"MPLCONFIGDIR"}


def test_a_home_of_ones_own_is_used(no_home: Path, monkeypatch: pytest.MonkeyPatch,
                                    capfd: pytest.CaptureFixture[str]) -> None:
    home = no_home / "home"
    home.mkdir()
    os.chown(home, ONE, ONE) if os.geteuid() == 0 else None
    monkeypatch.setenv("HOME", str(home))
    built = as_user(lambda: str(cache.entry("toy", ["a"], write())))
    assert built.startswith(f"{home}/.cache/nicbed/toy/")
    assert as_user(lambda: tools.own()) == {
        name: f"{home}/.cache/nicbed/tools-{ONE}/zig"
        for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    assert as_user(lambda: tools.matplotlib()) == {}
    assert capfd.readouterr().err == ""


def test_the_substitute_is_told_of_once(no_home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    as_user(lambda: [cache.entry("toy", [name], write()) for name in "ab"] and None)
    said = capfd.readouterr().err
    assert said == (f"nicbed: no home to write to: what is built is kept in {no_home}/nicbed-{ONE},"
                    " for a while (NICBED_CACHE=FOLDER keeps it)\n")


@pytest.mark.parametrize("trap", ["folder", "open", "link"])
def test_a_substitute_that_somebody_else_prepared(no_home: Path, trap: str) -> None:
    mine = no_home / f"nicbed-{ONE}"
    if trap == "link":
        mine.symlink_to("/tmp")
    else:
        mine.mkdir()
        if trap == "open":
            mine.chmod(0o777)

    def build() -> str:
        with pytest.raises(cache.CacheError) as error:
            cache.root()
        return str(error.value)

    assert as_user(build) == f"{mine} is not this user's alone: {cache.CHOOSE}"


@pytest.mark.parametrize(("modes", "umask"), [(0o1777, 0o022), (0o2775, 0o002)],
                         ids=["like /tmp", "of a group"])
def test_users_share_a_cache(place: Path, modes: int, umask: int, monkeypatch: pytest.MonkeyPatch
                             ) -> None:
    top = place / "cache"
    top.mkdir()
    group = 60001
    if os.geteuid() == 0:
        os.chown(top, 0, group)
    top.chmod(modes)
    monkeypatch.setenv("NICBED_CACHE", str(top))

    def build(*names: str) -> Callable[[], list[str]]:
        def made() -> list[str]:
            return [(cache.entry("toy", [name], write(str(os.geteuid()))) / "it").read_text()
                    for name in names]
        return made

    if modes & stat.S_ISGID:
        monkeypatch.setattr(os, "setgroups", lambda _, real=os.setgroups: real([group]))
    assert as_user(build("a", "b"), ONE, umask) == [str(ONE)] * 2
    assert as_user(build("a", "c"), OTHER, umask) == [str(ONE), str(OTHER)]
    assert as_user(build("b", "c"), ONE, umask) == [str(ONE), str(OTHER)]
    assert mode(top / "toy") == modes
    shutil.rmtree(top / "toy" / cache.key(["a"]))
    assert (top / "toy" / f".{cache.key(['a'])}.lock").stat().st_uid == ONE
    assert as_user(build("a"), OTHER, umask) == [str(OTHER)]


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o077])
def test_modes_follow_the_umask(tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch
                                ) -> None:
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path / "cache"))
    before = os.umask(umask)
    try:
        built = cache.entry("toy", ["a"], write())
    finally:
        os.umask(before)
    assert mode(built) == mode(built.parent) == 0o777 & ~umask
    assert mode(built / "it") == mode(built.parent / f".{built.name}.lock") == 0o666 & ~umask


def test_an_entry_that_another_user_keeps_closed(place: Path, monkeypatch: pytest.MonkeyPatch
                                                 ) -> None:
    monkeypatch.setenv("NICBED_CACHE", str(place))
    closed = as_user(lambda: str(cache.entry("toy", ["a"], write())), ONE, 0o077)

    def build() -> str:
        with pytest.raises(cache.CacheError) as error:
            cache.entry("toy", ["a"], write())
        return str(error.value)

    assert as_user(build, OTHER) == (f"{closed} is another user's, and not for this one to read: "
                                     f"{cache.CHOOSE}")


def test_a_cache_that_is_only_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in it is used; what is not ends in one line; the tools' caches lie elsewhere."""
    top = place / "cache"
    monkeypatch.setenv("NICBED_CACHE", str(top))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    before = os.umask(0o022)
    built = cache.entry("toy", ["a"], write())
    os.umask(before)

    def look() -> tuple[str, str, str]:
        with pytest.raises(cache.CacheError) as error:
            cache.entry("toy", ["b"], write())
        return str(cache.entry("toy", ["a"], write())), str(error.value), str(tools.folder())

    found, said, tool = as_user(look)
    assert found == str(built)
    assert said == f"the cache {top} cannot be written: Permission denied; {cache.CHOOSE}"
    assert tool == str(place / f"nicbed-{ONE}" / f"tools-{ONE}")


def test_a_cache_that_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path / "file"))
    with pytest.raises(cache.CacheError, match=r"^the cache /.*/file cannot be written: .*exists"):
        cache.entry("toy", ["a"], write())


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python says so; of a tool's failure the disk tells."""
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))

    def fill(work: Path) -> None:
        (work / "some").write_text("")
        with open("/dev/full", "w") as file:
            file.write("more")

    def fail(work: Path) -> None:
        raise RuntimeError("error: unexpected")

    line = (rf"^the disk of {tmp_path}/toy is full: `nicbed store prune` makes room, or "
            rf"{cache.CHOOSE}$")
    with pytest.raises(cache.CacheError, match=line):
        cache.entry("toy", ["a"], fill)
    with pytest.raises(RuntimeError):
        cache.entry("toy", ["a"], fail)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=cache.LEAST - 1))
    with pytest.raises(cache.CacheError, match=line):
        cache.entry("toy", ["a"], fail)
    assert [path.name for path in (tmp_path / "toy").iterdir()] == [f".{cache.key(['a'])}.lock"]


def test_a_killed_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one waits for no lock, finds nothing half done, and removes what was left."""
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        def hang(work: Path) -> None:
            (work / "half").write_text("")
            os.write(writing, b"x")
            time.sleep(600)

        try:
            cache.entry("toy", ["a"], hang)
        finally:
            os._exit(1)
    assert os.read(reading, 1) == b"x"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list((tmp_path / "toy").glob(".*.work-*/half"))) == 1
    built = cache.entry("toy", ["a"], write())
    assert sorted(path.name for path in built.parent.iterdir()) == [f".{built.name}.lock",
                                                                    built.name]
    assert [path.name for path in built.iterdir()] == ["it"]


def test_two_builds_at_once_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    built = []

    def build(work: Path) -> None:
        built.append(work)
        time.sleep(0.2)

    threads = [threading.Thread(target=cache.entry, args=("toy", ["a"], build)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(built) == 1


def test_temporary_files_on_a_file_system_mounted_noexec(tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.statvfs
    monkeypatch.setattr(os, "statvfs", lambda at: SimpleNamespace(
        f_flag=real(at).f_flag | (os.ST_NOEXEC if str(at).startswith("/proc") else 0)))
    monkeypatch.setenv("NICBED_CACHE", str(tmp_path))
    assert cache.for_libraries() == tempfile.gettempdir()
    assert not cache.can_execute(Path("/proc/nothing/there"))
    monkeypatch.setattr(tempfile, "tempdir", "/proc")
    assert cache.for_libraries() == str(tmp_path / f"tmp-{os.geteuid()}")
    assert Path(cache.for_libraries()).is_dir()

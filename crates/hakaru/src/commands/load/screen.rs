//! The live page's terminal: standard error, drawn with the few control sequences known to every
//! terminal (ECMA-48), on the alternate screen, so the summary stands where the load was started.
//!
//! The terminal stays in its usual mode: Ctrl-C is a signal as ever.

use std::io::{self, BufWriter, IsTerminal, Stderr, Write};

use load::Interval;
use load_report::live::Live;
use ratatui::Terminal;
use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};
use recording::Nanos;
use rustix::termios::tcgetwinsize;

use crate::output::look;

/// Switches to the alternate screen, and back.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l\x1b[?25h";
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR: &str = "\x1b[2J";
/// Fewest rows with room for curves; dumb terminals and terminals with ASCII only get none.
const ROWS_MIN: u16 = 14;
const COLUMNS_MIN: u16 = 60;

/// The live page of a running load; a drop restores the terminal.
pub(crate) struct Screen {
    live: Live,
    terminal: Terminal<Ansi>,
}

impl Screen {
    /// Opens a page on standard error, when standard error is a large enough terminal.
    pub(crate) fn open(live: Live) -> Option<Screen> {
        let size = size().ok().filter(|_| io::stderr().is_terminal())?;
        if size.height < ROWS_MIN || size.width < COLUMNS_MIN || look::is_dumb() || look::is_ascii()
        {
            return None;
        }
        let mut screen = Screen {
            live,
            terminal: Terminal::new(Ansi::new()).ok()?,
        };
        screen.terminal.backend_mut().put(ENTER).ok()?;
        screen.draw();
        Some(screen)
    }

    /// Adds an interval and redraws the page.
    pub(crate) fn add(&mut self, interval: &Interval, length: Nanos) {
        self.live.add(interval, length);
        self.draw();
    }

    fn draw(&mut self) {
        // A terminal that has gone away is no reason to end the load.
        let _ = self.terminal.draw(|frame| self.live.draw(frame));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let backend = self.terminal.backend_mut();
        let _ = backend.put(LEAVE).and_then(|()| backend.flush());
    }
}

fn size() -> io::Result<Size> {
    let size = tcgetwinsize(io::stderr())?;
    Ok(Size::new(size.ws_col, size.ws_row))
}

/// Writes cells as control sequences.
struct Ansi {
    out: BufWriter<Stderr>,
    colour: bool,
}

impl Ansi {
    fn new() -> Ansi {
        Ansi {
            out: BufWriter::new(io::stderr()),
            colour: look::colour(&io::stderr()),
        }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Writes the colour and weight of a cell, as far as the page uses either.
    fn put_looks(&mut self, cell: &Cell) -> io::Result<()> {
        let bold = if cell.modifier.contains(Modifier::BOLD) {
            ";1"
        } else {
            ""
        };
        let colour = match cell.fg {
            _ if !self.colour => "",
            Color::Red => ";31",
            Color::Green => ";32",
            Color::Yellow => ";33",
            _ => "",
        };
        write!(self.out, "\x1b[0{bold}{colour}m")
    }
}

impl Backend for Ansi {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut next = None;
        let mut looks = None;
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                write!(self.out, "\x1b[{};{}H", y + 1, x + 1)?;
            }
            let own = (cell.fg, cell.modifier);
            if looks != Some(own) {
                self.put_looks(cell)?;
                looks = Some(own);
            }
            self.put(cell.symbol())?;
            next = Some((x + 1, y));
        }
        self.put("\x1b[0m")
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.put(HIDE_CURSOR)
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.put(SHOW_CURSOR)
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        // Nobody asks where the whole screen is drawn; a terminal could not be asked without raw
        // mode.
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        write!(self.out, "\x1b[{};{}H", y + 1, x + 1)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.put(CLEAR)
    }

    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        self.clear()
    }

    fn size(&self) -> io::Result<Size> {
        size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize {
            columns_rows: size()?,
            pixels: Size::ZERO,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

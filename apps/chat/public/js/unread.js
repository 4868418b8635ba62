"use strict";

// Keeps the counters of the channel list, and tells the page about them.
(() => {
  const badges = new Map();
  for (const badge of document.querySelectorAll(".unread")) badges.set(badge.dataset.channel, badge);
  if (badges.size === 0) return;
  const pause = 10_000;

  async function loop() {
    try {
      const rows = await api.unread();
      for (const row of rows) {
        const badge = badges.get(String(row.channel_id));
        if (badge) badge.textContent = row.unread > 0 ? row.unread : "";
      }
      document.dispatchEvent(new CustomEvent("unread", { detail: rows }));
    } finally {
      setTimeout(loop, pause);
    }
  }
  loop();
})();

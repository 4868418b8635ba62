"use strict";

// The message list of a channel's page, asked for again when /fetch tells of something unread.
(() => {
  const list = document.querySelector("#messages");
  if (!list) return;
  const channel = list.dataset.channel;
  let last = 0;

  function shown(message) {
    const item = document.createElement("li");
    item.className = "message";
    const avatar = Object.assign(document.createElement("img"), {
      className: "avatar", alt: "", src: `/icons/${message.user.avatar_icon}`,
    });
    const author = Object.assign(document.createElement("a"), {
      textContent: message.user.display_name, href: `/profile/${encodeURIComponent(message.user.name)}`,
    });
    const time = Object.assign(document.createElement("time"), { textContent: message.date });
    const text = Object.assign(document.createElement("p"), { textContent: message.content });
    item.append(avatar, author, time, text);
    return item;
  }

  async function update() {
    const messages = await api.messages(channel, last);
    for (const message of messages) {
      last = Math.max(last, message.id);
      list.append(shown(message));
    }
  }

  document.querySelector("#say").addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = event.target.elements.message;
    await api.say(channel, field.value);
    field.value = "";
    await update();
  });
  document.addEventListener("unread", (event) => {
    if (event.detail.some((row) => String(row.channel_id) === channel && row.unread > 0)) update();
  });
  update();
})();

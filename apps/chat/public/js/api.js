"use strict";

// The three calls the pages make; each resolves to data or throws.
const api = {
  async get(path, query = {}) {
    const answer = await fetch(`${path}?${new URLSearchParams(query)}`);
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    return answer.json();
  },
  messages: (channel, last) => api.get("/message", { channel_id: channel, last_message_id: last }),
  unread: () => api.get("/fetch"),
  async say(channel, text) {
    const body = new URLSearchParams({ channel_id: channel, message: text });
    const answer = await fetch("/message", { method: "POST", body });
    if (!answer.ok) throw new Error(`/message answered ${answer.status}`);
  },
};

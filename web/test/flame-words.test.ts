import assert from "node:assert/strict";
import { test } from "node:test";

import type { Flame, FlameFrame } from "../src/format.ts";
import { parse, write } from "../src/lib/address.ts";
import { isApp, named, origins, readable, whose } from "../src/lib/flame-words.ts";

const FRAMES: FlameFrame[] = [
  ["Order#total", "/srv/shop/app/models/order.rb", 3, 0],
  ["Rack::Head#call", "/gems/rack-3.1/lib/rack/head.rb", 9, 1],
  ["Kernel#sleep", "", 0, 2],
  ["HakaruAgent::PumaFront#call", "hakaru_agent.rb", 39, 0],
  ["HakaruAgent::PumaCall#call", "", 0, 2],
];
const FLAME: Flame = { unit: "us", states: ["running"], origins: ["app", "rack", "C"], frames: FRAMES, graphs: [] };

test("the app's code is what is neither a library's nor the agent's; methods in C are nobody's", () => {
  assert.deepEqual(FRAMES.map((frame) => isApp(FLAME, frame)), [true, false, false, false, false]);
  assert.deepEqual(FRAMES.map((frame) => whose(FLAME, frame)), ["app", "library", "C", "library", "library"]);
});

test("templates are called by their file", () => {
  const rails = "/srv/shop/app/views/orders/index.html.erb";
  const made = "#<Class:0x00007f2988cb5dc8>#_app_views_orders_index_html_erb__1794328754_12480";
  assert.equal(readable(made, rails), "app/views/orders/index.html.erb");
  assert.equal(readable(`block in ${made}`, rails), "block in app/views/orders/index.html.erb");
  assert.equal(readable("#<Class:0x000>#__tilt_1240", "/srv/chat/views/message.erb"), "views/message.erb");
  assert.equal(readable("block in singleton class", "/srv/one/page.haml"), "block in page.haml");
  assert.equal(readable("Order#total", "/srv/shop/app/models/order.rb"), "Order#total");
  assert.equal(readable("helper", rails), "helper");
  const flame = { ...FLAME, frames: [[made, rails, 1, 0] satisfies FlameFrame] };
  assert.equal(named(flame).frames[0]?.[0], "app/views/orders/index.html.erb");
});

test("classes without a name have no address", () => {
  assert.equal(readable("#<Module:0x00007ff4f6018180>#execute", "/gems/db.rb"), "(module)#execute");
  assert.equal(readable("block in #<Class:0x0a>.call", "/srv/app.rb"), "block in (class).call");
});

test("gems have colours of their own as long as there are any", () => {
  const gems = [...Array(12).keys()].map((gem) => `gem${gem}`);
  const frames = gems.flatMap((_, gem) => Array.from({ length: gem + 1 }, (): FlameFrame => ["m", "f", 1, gem + 1]));
  const words = origins({ ...FLAME, origins: ["app", ...gems], frames });
  const coloured = words.filter((one) => one.colour !== "unaccounted");
  assert.equal(new Set(coloured.map((one) => one.colour)).size, 10);
  assert.equal(coloured.length, 10);
  assert.equal(words[1]?.colour, "unaccounted", "the gem with the fewest methods");
});

test("an address keeps what is shown", () => {
  const state = { route: "GET /orders/:id?a=1&b", focus: "Order#total", search: "größe", mine: "1" };
  const address = write("stacks", state);
  assert.ok(!address.includes(" "), address);
  assert.deepEqual(parse(address, "stacks"), state);
  assert.equal(write("stacks", { search: "" }), "#stacks");
  assert.equal(parse("#stacks", "stacks"), null);
  assert.equal(parse(address, "profile"), null);
});

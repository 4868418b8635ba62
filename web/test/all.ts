import "./balance.test.ts";
import "./compare.test.ts";
import "./curve.test.ts";
import "./flame.test.ts";
import "./numbers.test.ts";
import "./sort.test.ts";
import "./strips.test.ts";
import "./sweep.test.ts";

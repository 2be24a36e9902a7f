import { LimitsProcess } from './limits-process.js';
import { describeWithSynapse, Synapse } from './synapse.js';

/** With `synapse`, a gateway in front of Synapse. */
export type Mode = 'embedded' | 'gateway' | 'synapse';

export interface System {
  mode: Mode;
  /** The system under test. */
  limits: LimitsProcess;
  /**
   * The homeserver behind a gateway: an embedded one or Synapse, without rates and with caps that are never reached.
   */
  upstream?: { url: string; dispose(): Promise<void> };
  url: string;
}

type Suite = (system: () => System) => void;

const SERVER = '[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n';
const RTC = '[rtc]\nurl = "wss://sfu.example"\nkey = "key"\nsecret = "secret"\n';
const UNBOUNDED = `[ratelimit]\nenabled = false
[limits]\nfilters_per_user = 1000000\naccount_data_per_user = 1000000
one_time_keys_per_device = 1000000\npushers_per_user = 1000000
[delayed_events]\nmax_per_room = 1000000\nmax_delay_ms = 31622400000\n`;

async function open(mode: Mode, bounds: string): Promise<System> {
  if (mode === 'embedded') {
    const limits = await LimitsProcess.start(SERVER + RTC + bounds);
    return { mode, limits, url: limits.url };
  }
  const upstream = mode === 'synapse' ? await Synapse.start() : await LimitsProcess.start(SERVER + RTC + UNBOUNDED);
  const limits = await LimitsProcess.start(`${SERVER}[gateway]\nupstream = "${upstream.url}"\n${bounds}`);
  return { mode, limits, upstream, url: limits.url };
}

function run(mode: Mode, bounds: string, suite: Suite): void {
  let system: System;
  beforeAll(async () => {
    system = await open(mode, bounds);
  });
  afterAll(async () => {
    await system?.limits.dispose();
    await system?.upstream?.dispose();
  });
  suite(() => system);
}

/**
 * Runs a suite against the embedded homeserver and through a gateway in front of another one: the bounds are the same.
 */
export function inBothModes(title: string, bounds: string, suite: Suite): void {
  describe.each<Mode>(['embedded', 'gateway'])(`${title} (%s)`, (mode) => run(mode, bounds, suite));
}

/** Runs a suite in both modes, and through a gateway in front of Synapse where that is installed. */
export function inEveryMode(title: string, bounds: string, suite: Suite): void {
  inBothModes(title, bounds, suite);
  describeWithSynapse(`${title} (synapse)`, () => run('synapse', bounds, suite));
}

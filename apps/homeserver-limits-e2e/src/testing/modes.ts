import { LimitsProcess } from './limits-process.js';

export type Mode = 'embedded' | 'gateway';

export interface System {
  mode: Mode;
  /** The system under test. */
  limits: LimitsProcess;
  /** The homeserver behind a gateway: an embedded one without rates and with caps that are never reached. */
  upstream?: LimitsProcess;
  url: string;
}

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
  const upstream = await LimitsProcess.start(SERVER + RTC + UNBOUNDED);
  const limits = await LimitsProcess.start(`${SERVER}[gateway]\nupstream = "${upstream.url}"\n${bounds}`);
  return { mode, limits, upstream, url: limits.url };
}

/** Runs a suite against the embedded homeserver and through a gateway: the bounds are the same. */
export function inBothModes(title: string, bounds: string, suite: (system: () => System) => void): void {
  describe.each<Mode>(['embedded', 'gateway'])(`${title} (%s)`, (mode) => {
    let system: System;
    beforeAll(async () => {
      system = await open(mode, bounds);
    });
    afterAll(async () => {
      await system.limits.dispose();
      await system.upstream?.dispose();
    });
    suite(() => system);
  });
}

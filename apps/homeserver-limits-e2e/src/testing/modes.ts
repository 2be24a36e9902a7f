import { onHomeservers, type RealHomeserver, type RunningHomeserver } from './homeservers.js';
import { LimitsProcess } from './limits-process.js';

/** With the name of a homeserver, a gateway in front of it. */
export type Mode = 'embedded' | 'gateway' | 'Synapse' | 'Dendrite';

export interface System {
  mode: Mode;
  /** The system under test. */
  limits: LimitsProcess;
  /** The homeserver behind a gateway, without rates and with caps that are never reached. */
  upstream?: RunningHomeserver;
  /** What a homeserver of others has; undefined for the embedded one, which has all of it. */
  homeserver?: RealHomeserver | undefined;
  url: string;
}

type Suite = (system: () => System) => void;

const SERVER = '[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n';
const RTC = '[rtc]\nurl = "wss://sfu.example"\nkey = "key"\nsecret = "secret"\n';
const UNBOUNDED = `[ratelimit]\nenabled = false
[limits]\nfilters_per_user = 1000000\naccount_data_per_user = 1000000
one_time_keys_per_device = 1000000\npushers_per_user = 1000000
[delayed_events]\nmax_per_room = 1000000\nmax_delay_ms = 31622400000\n`;

async function open(mode: Mode, bounds: string, homeserver?: RealHomeserver): Promise<System> {
  if (mode === 'embedded') {
    const limits = await LimitsProcess.start(SERVER + RTC + bounds);
    return { mode, limits, url: limits.url };
  }
  const upstream = homeserver ? await homeserver.start() : await LimitsProcess.start(SERVER + RTC + UNBOUNDED);
  const limits = await LimitsProcess.start(`${SERVER}[gateway]\nupstream = "${upstream.url}"\n${bounds}`);
  return { mode, limits, upstream, homeserver, url: limits.url };
}

function run(mode: Mode, bounds: string, suite: Suite, homeserver?: RealHomeserver): void {
  let system: System;
  beforeAll(async () => {
    system = await open(mode, bounds, homeserver);
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

/** Runs a suite in both modes, and through a gateway in front of each homeserver that is installed. */
export function inEveryMode(title: string, bounds: string, suite: Suite): void {
  inBothModes(title, bounds, suite);
  onHomeservers(`${title} on`, (homeserver) => run(homeserver.name, bounds, suite, homeserver));
}

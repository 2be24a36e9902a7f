// Incus and LXD with 200 containers: the list, a start and a new limit beyond the server's own time, and an idle watch. The
// daemons are private ones, started for this; that requires root. Run alone: node tools/bench/incus.bench.mjs
import { fileURLToPath } from 'node:url';
import { buildTinyContainer } from '../tiny-container/build.mjs';
import { measure, whyUnavailable } from './libvirt/measure.mjs';

const MAX_OWN_MS = 50;
const MAX_LIST_MS = 300;
const MAX_FOREIGN_MS = 100;
const MAX_IDLE_PERCENT = 1;

const ENGINES = [
  { flavor: 'incus', label: 'Incus', client: 'incus' },
  { flavor: 'lxd', label: 'LXD', client: 'lxc' },
];

export default async function run() {
  const { path } = await buildTinyContainer();
  return { name: 'incus', rows: ENGINES.flatMap((engine) => rowsOf(engine, path)) };
}

function rowsOf({ flavor, label, client }, image) {
  const reason = whyUnavailable([client, 'unshare', 'nsenter', 'setpriv']);
  if (reason !== undefined) return [{ what: `${label}: skipped: ${reason}`, value: 0, unit: '' }];
  const figures = measure('incus.bench', { adapter: 'incus-adapter', args: [flavor, image] });
  const { containers, raw, list, firstList, foreign, idlePercent } = figures;
  const change = (kind, what) => {
    const { theirs, own, shown } = figures[kind];
    return [
      { what: `${label}: ${what}, the server's own time`, value: theirs, unit: 'ms' },
      {
        what: `${label}: ${what}, ours until the caller has the answer`,
        value: own,
        unit: 'ms',
        ratio: (theirs + own) / theirs,
        target: `at most ${MAX_OWN_MS}`,
        ok: own <= MAX_OWN_MS,
      },
      {
        what: `${label}: ${what}, until the list shows it`,
        value: shown,
        unit: 'ms',
        target: `at most ${MAX_OWN_MS}`,
        ok: shown <= MAX_OWN_MS,
      },
    ];
  };
  return [
    { what: `${label}: the server's list of ${containers} containers`, value: raw, unit: 'ms' },
    {
      what: `${label}: the list for the page, with the events socket`,
      value: firstList,
      unit: 'ms',
      ratio: firstList / raw,
      target: `under ${MAX_LIST_MS}`,
      ok: firstList < MAX_LIST_MS,
    },
    { what: `${label}: a later list`, value: list, unit: 'ms', ratio: list / raw },
    ...change('start', 'start'),
    ...change('scale', 'new limit'),
    {
      what: `${label}: a change by the engine's own client, from its end until the list shows it`,
      value: foreign,
      unit: 'ms',
      target: `under ${MAX_FOREIGN_MS}`,
      ok: foreign < MAX_FOREIGN_MS,
    },
    {
      what: `${label}: CPU of a watch of ${containers} containers, idle for 20 s`,
      value: idlePercent,
      unit: '%',
      target: `at most ${MAX_IDLE_PERCENT}`,
      ok: idlePercent <= MAX_IDLE_PERCENT,
    },
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await run(), null, 2));

import { procedures } from '../procedures.js';
import type { TypedValue } from '../wire/types.js';
import { XdrReader } from '../wire/xdr-reader.js';
import { XdrWriter } from '../wire/xdr-writer.js';

// The statistics of many running domains, for tools/bench: `statistics.bench COUNT`. Prints one line of JSON:
// `decodeMs`, the CPU time to decode the replies about all of them.

const count = Number(process.argv[2]);
const DOMAINS_PER_CALL = 1000;
const ROUNDS = 5;

/** What libvirt 9.0 reports about a guest with two disks, an interface and a balloon driver. */
function statistics(): ReadonlyMap<string, TypedValue> {
  const fields = new Map<string, TypedValue>();
  const number = (names: string): void => {
    for (const name of names.split(' ')) fields.set(name, 2_147_483_648 + fields.size * 1_000_003);
  };
  number('cpu.time cpu.user cpu.system cpu.cache.monitor.count cpu.haltpoll.success.time cpu.haltpoll.fail.time');
  number('balloon.current balloon.maximum balloon.swap_in balloon.swap_out balloon.major_fault balloon.minor_fault');
  number('balloon.unused balloon.available balloon.usable balloon.last-update balloon.disk_caches balloon.rss');
  number('net.count net.0.rx.bytes net.0.rx.pkts net.0.rx.errs net.0.rx.drop');
  number('net.0.tx.bytes net.0.tx.pkts net.0.tx.errs net.0.tx.drop');
  fields.set('net.0.name', 'vnet7');
  fields.set('block.count', 2);
  for (const disk of ['block.0', 'block.1']) {
    fields.set(`${disk}.name`, 'vda');
    fields.set(`${disk}.path`, '/var/lib/libvirt/images/a-guest-of-the-benchmark.qcow2');
    number(
      ['rd.reqs', 'rd.bytes', 'rd.times', 'wr.reqs', 'wr.bytes', 'wr.times'].map((name) => `${disk}.${name}`).join(' '),
    );
    number(['fl.reqs', 'fl.times', 'allocation', 'capacity', 'physical'].map((name) => `${disk}.${name}`).join(' '));
  }
  return fields;
}

const uuid = '2c749204-8322-4dfd-b324-cb2e556e0e9a';
const stats = statistics();
const records = Array.from({ length: DOMAINS_PER_CALL }, (_none, id) => ({
  domain: { name: `guest-${id}`, uuid, id },
  stats,
}));
const writer = new XdrWriter();
const { result } = procedures.connectGetAllDomainStats;
result.write(writer, { records });
const bytes = writer.toBuffer();

const times: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const began = process.cpuUsage();
  for (let decoded = 0; decoded < count; decoded += DOMAINS_PER_CALL) {
    const { length } = result.read(new XdrReader(bytes)).records;
    if (length !== DOMAINS_PER_CALL) throw new Error(`${length} records instead of ${DOMAINS_PER_CALL}`);
  }
  const { user, system } = process.cpuUsage(began);
  times.push((user + system) / 1000);
}
times.sort((a, b) => a - b);
process.stdout.write(`${JSON.stringify({ decodeMs: times[Math.floor(ROUNDS / 2)] })}\n`);

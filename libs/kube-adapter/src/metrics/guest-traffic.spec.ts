import { TrafficSums } from './guest-traffic.js';

const READ = 'kubevirt_vmi_storage_read_traffic_bytes_total';
const RECEIVED = 'kubevirt_vmi_network_receive_bytes_total';
const WEB = 'name="web",namespace="tailvm",node="node-a"';

const sumsOf = (...lines: string[]) => {
  const sums = new TrafficSums();
  for (const line of lines) sums.add(line);
  return Object.fromEntries(sums.result());
};

describe('TrafficSums', () => {
  test('sums the disks and the interfaces of each VM', () => {
    expect(
      sumsOf(
        `# TYPE ${READ} counter`,
        `${READ}{drive="vda",${WEB}} 1e+06`,
        `${READ}{drive="vdb",${WEB}} 5`,
        `kubevirt_vmi_storage_write_traffic_bytes_total{drive="vda",${WEB}} 7`,
        `${RECEIVED}{interface="default",${WEB}} 10`,
        `${RECEIVED}{interface="lan",${WEB}} 20`,
        `kubevirt_vmi_network_transmit_bytes_total{interface="default",${WEB}} 3`,
        `${READ}{drive="vda",name="web",namespace="other",node="node-a"} 9`,
      ),
    ).toEqual({
      'tailvm/web': {
        diskReadBytes: 1_000_005,
        diskWrittenBytes: 7,
        networkReceivedBytes: 30,
        networkTransmittedBytes: 3,
      },
      'other/web': {
        diskReadBytes: 9,
        diskWrittenBytes: null,
        networkReceivedBytes: null,
        networkTransmittedBytes: null,
      },
    });
  });

  test.each(['NaN', '+Inf', '-Inf', '-1'])('does not know the sum when one disk has the value %s', (value) => {
    const sums = sumsOf(`${READ}{drive="a",${WEB}} 5`, `${READ}{drive="b",${WEB}} ${value}`, `${RECEIVED}{${WEB}} 1`);
    expect(sums['tailvm/web']).toMatchObject({ diskReadBytes: null, networkReceivedBytes: 1 });
  });

  test('ignores other series and series of no VM', () => {
    expect(
      sumsOf(
        `${READ}_more{${WEB}} 1`,
        'go_goroutines 1',
        'not a line of the format',
        `${READ} 1`,
        `${READ}{name="web"} 1`,
        `${READ}{name="",namespace="tailvm"} 1`,
      ),
    ).toEqual({});
  });

  test('takes no value from a label that looks like one', () => {
    const tag = String.raw`kubernetes_vmi_label_x="\",name=\"victim\",namespace=\"tailvm\"} 99"`;
    expect(Object.keys(sumsOf(`${READ}{${tag},${WEB}} 1`))).toEqual(['tailvm/web']);
  });

  test.each([`${READ}{${WEB}} many`, `${READ}{${WEB}`, '<html><body>Log in</body></html>'])('refuses %s', (line) => {
    expect(() => sumsOf(line)).toThrow();
  });
});

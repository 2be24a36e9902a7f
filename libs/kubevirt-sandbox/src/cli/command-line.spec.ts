import { parseCommandLine, UsageError } from './command-line.js';

describe('parseCommandLine', () => {
  test('defaults to a free port, the newest KubeVirt and the demo', () => {
    expect(parseCommandLine([])).toEqual({ port: 0, kubevirt: '1.9', without: [], help: false });
  });

  test('parses every option', () => {
    const line = '--port 6443 --vms 40 --kubevirt 1.6 --kubeconfig a.yaml --without cdi,multus --without metrics';
    expect(parseCommandLine(line.split(' '))).toEqual({
      port: 6443,
      vms: 40,
      kubevirt: '1.6',
      kubeconfig: 'a.yaml',
      without: ['cdi', 'multus', 'metrics'],
      help: false,
    });
  });

  test.each([
    ['--port 65536', '--port must be a number from 0 to 65535'],
    ['--port=-1', '--port must be a number from 0 to 65535'],
    ['--vms 1e3', '--vms must be a number from 0 to 10000'],
    ['--vms 10001', '--vms must be a number from 0 to 10000'],
    ['--instances 1e3', '--instances must be a number from 0 to 10000'],
    ['--instances 10001', '--instances must be a number from 0 to 10000'],
    ['--kubevirt 1.2', '--kubevirt must be one of 1.3, 1.4, 1.5, 1.6, 1.6.5, 1.7, 1.7.4, 1.8, 1.9'],
    ['--without cdi,dns', '--without must be one of kubevirt, cdi, snapshots, multus, metrics'],
    ['--color', "Unknown option '--color'"],
    ['here', "Unexpected argument 'here'"],
  ])('refuses %s and says what would be right', (line, message) => {
    const parse = () => parseCommandLine(line.split(' '));
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});

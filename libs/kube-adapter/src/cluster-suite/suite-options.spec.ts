import { parseSuiteOptions, USAGE } from './suite-options.js';
import { environmentOf, settingsOf } from './suite-settings.js';

describe('parseSuiteOptions', () => {
  test('needs a cluster, and takes it from the command line first', () => {
    expect(() => parseSuiteOptions([], {})).toThrow('--kubeconfig FILE');
    const environment = { HEADGATE_TEST_KUBECONFIG: 'env', HEADGATE_TEST_NAMESPACE: 'lab' };
    expect(parseSuiteOptions([], environment)).toMatchObject({
      settings: { kubeconfig: 'env', namespace: 'lab' },
      command: 'all',
      keeps: false,
      report: 'headgate-cluster-report.json',
    });
    expect(parseSuiteOptions(['--kubeconfig', 'file'], environment)?.settings.kubeconfig).toBe('file');
  });

  test('never uses the current cluster of kubectl', () => {
    expect(() => parseSuiteOptions([], { KUBECONFIG: 'production' })).toThrow('--kubeconfig FILE');
  });

  test('parses every option, and passes the settings on in the environment', () => {
    const line =
      '--kubeconfig k --namespace n --container-disk d --image-url u --storage-class s --container-image c --suites power,events --report r --keep';
    const options = parseSuiteOptions(line.split(' '), {});
    expect(options).toEqual({
      settings: {
        kubeconfig: 'k',
        namespace: 'n',
        containerDisk: 'd',
        imageUrl: 'u',
        storageClass: 's',
        containerImage: 'c',
        suites: ['power', 'events'],
      },
      command: 'all',
      keeps: true,
      report: 'r',
    });
    expect(settingsOf(environmentOf(options!.settings))).toEqual(options!.settings);
    const bare = parseSuiteOptions(['--kubeconfig', 'k'], {})!.settings;
    expect(settingsOf(environmentOf(bare))).toEqual(bare);
  });

  test.each([
    ['--namespace Lab', 'Lab is not a valid name'],
    ['--suites power,nothing', 'there is no ability nothing'],
    ['--prepare --remove', 'either --prepare or --remove'],
    ['--color', "Unknown option '--color'"],
    ['here', "Unexpected argument 'here'"],
  ])('refuses %s', (line, message) => {
    expect(() => parseSuiteOptions(['--kubeconfig', 'k', ...line.split(' ')], {})).toThrow(message);
  });

  test('explains every option', () => {
    expect(parseSuiteOptions(['--help'], {})).toBeUndefined();
    expect(USAGE.match(/^ {2}--[a-z-]+/gm)).toHaveLength(11);
  });
});

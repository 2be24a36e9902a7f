import { isAtLeast, isGateEnabled, parseKubevirtVersion } from './kubevirt-version.js';

describe('KubeVirt versions', () => {
  test('parses releases and treats an unknown build as the newest one', () => {
    expect(parseKubevirtVersion('v1.6.2-rc.0')).toEqual({ major: 1, minor: 6 });
    expect(isAtLeast(parseKubevirtVersion('v1.5.0'), 1, 6)).toBe(false);
    expect(isAtLeast(parseKubevirtVersion('v1.6.0'), 1, 6)).toBe(true);
    expect(isAtLeast(parseKubevirtVersion('devel'), 1, 9)).toBe(true);
  });

  test.each([
    ['v1.8.4', [], [], false],
    ['v1.8.4', ['Snapshot'], [], true],
    ['v1.9.0', [], [], true],
    ['v1.9.0', [], ['Snapshot'], false],
  ])('knows whether the gate Snapshot is on in %s with %j on and %j off', (version, listed, disabled, on) => {
    expect(isGateEnabled('Snapshot', parseKubevirtVersion(version), { listed, disabled })).toBe(on);
  });

  test.each([
    ['VMExport', 'v1.9.0', true],
    ['VMExport', 'v1.8.0', false],
    ['HotplugNICs', 'v1.4.0', true],
    ['VMLiveUpdateFeatures', 'v1.5.0', true],
    ['DeclarativeHotplugVolumes', 'v1.9.0', false],
  ])('keeps the GA gate %s of %s on although it is listed as disabled: %s', (gate, version, on) => {
    expect(isGateEnabled(gate, parseKubevirtVersion(version), { listed: [], disabled: [gate] })).toBe(on);
  });
});

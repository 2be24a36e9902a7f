import { recordedOs, reportedOs } from './reported-os.js';

test.each([
  [{ prettyName: 'Debian GNU/Linux 12 (bookworm)' }, 'Debian 12'],
  [{ prettyName: 'Fedora Linux 42 (Cloud Edition)', name: 'Fedora Linux' }, 'Fedora Linux 42'],
  [
    { prettyName: 'Windows Server 2022 Standard', version: 'Microsoft Windows Server 2022' },
    'Windows Server 2022 Standard',
  ],
  [{ prettyName: '', name: 'Alpine Linux', versionId: '3.22.1', version: '3.22' }, 'Alpine Linux 3.22.1'],
  [{ name: 'FreeBSD', version: '14.2' }, 'FreeBSD 14.2'],
  [{ name: 'Plan 9' }, 'Plan 9'],
  [{ prettyName: '\u202eevil\u0000 (x)' }, 'evil'],
  [{ prettyName: 'a'.repeat(10_000) }, 'a'.repeat(64)],
  [{ prettyName: '(only a code name)' }, undefined],
  [{}, undefined],
  [undefined, undefined],
])('%j is %j', (info, expected) => {
  expect(reportedOs(info)).toBe(expected);
});

test('a recorded operating system is one printable line', () => {
  expect(recordedOs('debian12')).toBe('debian12');
  expect(recordedOs('\u202e\u0000')).toBeUndefined();
  expect(recordedOs(undefined)).toBeUndefined();
});

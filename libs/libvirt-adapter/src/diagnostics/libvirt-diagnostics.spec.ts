import type { MigrationTransport } from '../migration/migration-host.js';
import { LibvirtDiagnostics, type LibvirtDiagnosticsDeps } from './libvirt-diagnostics.js';

const checksWith = (migrationTransport?: MigrationTransport) =>
  new LibvirtDiagnostics({ isRemote: true, migrationTransport } as LibvirtDiagnosticsDeps).checks();

describe('LibvirtDiagnostics', () => {
  test('warns as long as live migrations are not protected, and names the remedy', async () => {
    expect(await checksWith('insecure')).toContainEqual({
      name: 'migration',
      title: 'Live migrations are not encrypted',
      status: 'warning',
      fixable: false,
      message: expect.stringMatching(/^migrationTransport is insecure: .* write into its disks\.$/),
      remedy: expect.stringContaining('migrationTransport: tls'),
    });
  });

  test.each([['tls'], [undefined]] as const)(
    'has nothing to warn about with migrationTransport %s',
    async (transport) => {
      expect((await checksWith(transport)).map(({ name }) => name)).not.toContain('migration');
    },
  );
});

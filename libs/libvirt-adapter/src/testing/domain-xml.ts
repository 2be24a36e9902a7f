import { buildDomainXml, type DomainSpec } from '../domain-xml/build-domain-xml.js';
import { NO_METADATA } from '../domain-xml/instance-metadata.js';

export const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';

/** The description of a machine of ours, with what the test says laid over it. */
export const ourDomainXml = (overrides: Partial<DomainSpec> = {}): string => {
  const uuid = overrides.uuid ?? UUID;
  return buildDomainXml({
    name: 'web',
    uuid,
    cpu: 2,
    memoryBytes: 512 * 1024 ** 2,
    arch: 'x86_64',
    accelerator: 'tcg',
    disk: { path: '/images/headgate/web-2c749204.qcow2', format: 'qcow2' },
    serial: { socket: `/images/headgate/${uuid}.serial`, log: '/images/headgate/web-2c749204-serial.log' },
    vnc: 'socket',
    metadata: {
      ...NO_METADATA,
      owner: uuid,
      createdAt: '2026-01-01T00:00:00.000Z',
      volumes: [
        { pool: 'headgate', name: 'web-2c749204.qcow2', role: 'disk', bytes: 1024 ** 3 },
        { pool: 'headgate', name: 'web-2c749204-serial.log', role: 'serial-log' },
      ],
    },
    ...overrides,
  });
};

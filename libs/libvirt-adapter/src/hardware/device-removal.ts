import { DomainError, type Clock } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { formatXml, type XmlElement } from '../xml/xml.js';

export interface DeviceRemovalDeps {
  readonly connection: LibvirtConnection;
  readonly clock: Clock;
}

/** A device as both documents of its domain describe it; absent where it does not have it. */
export interface RemovedDevice {
  readonly tag: 'disk' | 'interface' | 'hostdev';
  /** For people, such as `the disk data`. */
  readonly label: string;
  readonly live?: XmlElement;
  readonly config?: XmlElement;
  /** Whether the XML of the running domain still contains the device. */
  readonly isIn: (xml: string) => boolean;
}

const RELEASE_TIMEOUT_MS = 20_000;
const POLL_MS = 250;

/**
 * Removes a device from the running domain and from its configuration. The guest decides when it releases the device:
 * libvirt drops it from the XML only when QEMU has reported that. The configuration changes afterwards, so that a guest
 * that does not release the device keeps it for good.
 * @throws DomainError BACKEND_TIMEOUT when the guest does not release the device
 */
export async function removeDevice(
  uuid: string,
  { tag, label, live, config, isIn }: RemovedDevice,
  { connection, clock }: DeviceRemovalDeps,
): Promise<void> {
  const { domains } = connection;
  if (live) {
    const xml = formatXml({ [tag]: live });
    await domains.detachDevice(uuid, { xml, inLiveDomain: true, inPersistentDomain: false });
    const began = clock.now();
    for (;;) {
      const domain = await domains.inspect(uuid);
      if (!domain?.state.isActive || !isIn(domain.xml)) break;
      if (clock.now() - began > RELEASE_TIMEOUT_MS) {
        throw new DomainError(
          'BACKEND_TIMEOUT',
          `The guest did not release ${label} within ${RELEASE_TIMEOUT_MS / 1000} s and keeps it: unmount it in the guest or wait until the guest has booted, then try again.`,
        );
      }
      await clock.delay(POLL_MS);
    }
  }
  if (config) {
    await domains.detachDevice(uuid, {
      xml: formatXml({ [tag]: config }),
      inLiveDomain: false,
      inPersistentDomain: true,
    });
  }
}

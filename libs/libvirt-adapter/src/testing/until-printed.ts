import { readFile } from 'node:fs/promises';
import { SystemClock, type InstanceRef } from '@headgate/domain-contracts';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { Virsh } from '../virsh/virsh.js';

const LOG_INTERVAL_MS = 50;
const clock = new SystemClock();

/**
 * Waits for a text in the log of the serial line: libvirt writes it a moment after a console has received the same
 * bytes.
 */
export async function untilPrinted(virsh: Virsh, { name }: InstanceRef, text: RegExp): Promise<void> {
  const { serial } = describeDomain(await virsh.run(['dumpxml', name]));
  if (serial?.logFile === undefined) throw new Error(`The serial line of ${name} has no log.`);
  while (!text.test(await readFile(serial.logFile, 'latin1'))) await clock.delay(LOG_INTERVAL_MS);
}

import type { ConsoleStream } from '@headgate/domain-contracts';
import { InventoryRecorder, readUntil, recordingReporter } from '@headgate/testing';
import { openShell, ROOT_LOGIN, shell } from '../testing/guest-shell.js';
import { LibvirtUnderTest, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';

const MIB = 1024 ** 2;
const BOOT_MS = 240_000;

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;

describeWithLibvirt(`the keyboard of a screen${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let image: string;

  beforeAll(async () => void (image = await tinyGuest()), BOOT_MS);
  beforeEach(async () => void (libvirt = await LibvirtUnderTest.open()));
  afterEach(() => libvirt?.close(), 60_000);

  test(
    'types on the terminal of a guest that has no driver for USB',
    async () => {
      const backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image) });
      const recorder = InventoryRecorder.over(backend.require('inventory'));
      const ref = libvirt.refOf(libvirt.freshName());
      const source = { kind: 'image', entry: TINY_ENTRY } as const;
      const spec = { ref, source, cpu: 1, memoryBytes: 192 * MIB, diskBytes: 128 * MIB, start: true };
      const { remaining } = await backend.require('provisioning').create({ ...spec, cloudInit: ROOT_LOGIN });
      await remaining?.(recordingReporter());
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
      const stream = await openShell(backend.require('consoles'), ref);
      // The content of the first virtual terminal.
      await shell(stream, 'until grep -q "login:" /dev/vcs1; do usleep 100000; done');

      const screen = await openRfb(await backend.require('consoles').openVnc(ref));
      const text = 'typed-on-screen';
      for (const [i, character] of [...text].entries()) {
        press(screen, character);
        // The keyboard has a buffer of 16 bytes, and drops what a slow guest has not read.
        await shell(stream, `until grep -q "login: ${text.slice(0, i + 1)}" /dev/vcs1; do usleep 100000; done`);
      }

      screen.destroy();
      stream.destroy();
      await recorder.stop();
    },
    BOOT_MS,
  );
});

/** Performs the handshake of RFB 3.8 without authentication. Source: RFC 6143, section 7. */
async function openRfb(stream: ConsoleStream): Promise<ConsoleStream> {
  await readUntil(stream, /^RFB 003\.\d{3}\n/);
  stream.write('RFB 003.008\n');
  await readUntil(stream, /^[^]{2}/);
  stream.write(Buffer.from([1]));
  // The result is zero, and so a success.
  await readUntil(stream, /^\0{4}/);
  stream.write(Buffer.from([1]));
  await readUntil(stream, /^[^]{24}/);
  stream.resume();
  return stream;
}

/** Sends a press and a release of the key for a character, whose key symbol is its code. */
function press(stream: ConsoleStream, character: string): void {
  for (const isDown of [1, 0]) {
    const event = Buffer.from([4, isDown, 0, 0, 0, 0, 0, 0]);
    event.writeUInt32BE(character.charCodeAt(0), 4);
    stream.write(event);
  }
}

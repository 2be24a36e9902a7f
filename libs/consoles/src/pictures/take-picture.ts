import type { Clock, ConsoleStream } from '@headgate/domain-contracts';
import { FrameCapture } from '../rfb/frame-capture.js';
import { encodePng } from './png.js';

/**
 * The screen of a guest that has no other viewers, in its full size as PNG.
 * @param open a session of RFB for the picture
 * @throws DomainError the error of `open`, or BACKEND_TIMEOUT
 */
export const takePicture = async (clock: Clock, open: () => Promise<ConsoleStream>): Promise<Buffer> =>
  encodePng(await new FrameCapture({ clock, open }).frame);

import { messageOf } from '@headgate/domain-contracts';
import { CLOSE_CODES, closeReason, type Viewer } from '../viewer.js';
import { ByteParser } from './byte-parser.js';
import { HeldInputs } from './held-inputs.js';
import { ClientMessage, cutText, pointerEvent, ServerMessage } from './messages.js';
import { FRAMEBUFFER_FORMAT, writePixelFormat, type PixelFormat } from './pixel-format.js';
import { union, type Rectangle } from './rectangle.js';
import type { SharedView } from './shared-view.js';
import { UpdateComposer } from './update-composer.js';
import { readViewer, type ViewerMessages } from './viewer-messages.js';

/** A viewer with more unsent bytes receives no update. */
const MAX_BUFFERED_BYTES = 262_144;
const NAME = Buffer.from('Headgate');

/**
 * The server's half of one viewer's RFB session. The viewer receives the newest screen as fast as its connection
 * allows.
 */
export class ViewerSession implements ViewerMessages {
  private readonly updates: UpdateComposer;
  private readonly held = new HeldInputs();
  private input: Buffer[] = [];
  private request: Rectangle | undefined;
  private clipboard: Buffer | undefined;
  private hasJoined = false;
  private composing = false;
  /** Whether the screen changed while an update was being composed. */
  private changed = false;
  private left = false;

  constructor(
    private readonly viewer: Viewer,
    private readonly view: SharedView,
  ) {
    this.updates = new UpdateComposer(view);
    const parser = new ByteParser(readViewer(this));
    viewer.onInput((data) => this.receive(parser, data));
    viewer.onClose(() => this.leave());
  }

  /** Whether the viewer waits for an update. */
  get isWaiting(): boolean {
    return this.request !== undefined;
  }

  damaged(area: Rectangle): void {
    this.updates.damaged(area);
  }

  /** The screen starts again. */
  renew(): void {
    this.updates.renew();
  }

  bell(): void {
    if (this.hasJoined && this.viewer.buffered <= MAX_BUFFERED_BYTES) this.send(Buffer.from([ServerMessage.bell]));
  }

  /** Of several clipboards that the viewer has not received yet, only the last one is sent. */
  showClipboard(text: Buffer): void {
    this.clipboard = text;
    this.pump();
  }

  /** Sends the changes, if the viewer waits for them and its connection is free. */
  pump(): void {
    if (!this.hasJoined || this.left || this.viewer.buffered > MAX_BUFFERED_BYTES) return;
    const { clipboard, request } = this;
    this.clipboard = undefined;
    if (clipboard) this.send(cutText(ServerMessage.cutText, clipboard));
    if (this.composing) this.changed = true;
    else if (request && !this.view.blank) void this.show(request);
  }

  private async show(request: Rectangle): Promise<void> {
    this.request = undefined;
    this.composing = true;
    this.changed = false;
    const update = await this.updates.next(request);
    this.composing = false;
    if (this.left) return;
    if (update) return this.send(update);
    // Nothing changed within the requested area: the viewer keeps waiting.
    this.updateRequest(true, request);
    this.view.requestUpdate();
    if (this.changed) this.pump();
  }

  send(data: Buffer): void {
    this.viewer.send(data, () => this.pump());
  }

  joined(): void {
    const { width, height } = this.view.screen;
    const size = Buffer.alloc(4);
    size.writeUInt16BE(width, 0);
    size.writeUInt16BE(height, 2);
    const nameLength = Buffer.alloc(4);
    nameLength.writeUInt32BE(NAME.length);
    this.updates.begin();
    this.hasJoined = true;
    this.send(Buffer.concat([size, writePixelFormat(FRAMEBUFFER_FORMAT), nameLength, NAME]));
  }

  pixelFormat(format: PixelFormat): void {
    this.updates.useFormat(format);
  }

  encodings(numbers: number[]): void {
    this.updates.useEncodings(numbers);
  }

  updateRequest(incremental: boolean, area: Rectangle): void {
    if (!incremental) this.updates.damaged(area);
    this.request = this.request ? union(this.request, area) : area;
  }

  key(down: boolean, keysym: number, keycode?: number): void {
    if (this.viewer.viewOnly) return;
    this.held.key(down, keysym, keycode);
    this.input.push(this.view.keyMessage(down, keysym, keycode));
  }

  pointer(buttons: number, x: number, y: number): void {
    if (this.viewer.viewOnly) return;
    this.held.point(buttons, x, y);
    this.input.push(pointerEvent(buttons, x, y));
  }

  cutText(text: Buffer): void {
    if (!this.viewer.viewOnly) this.input.push(cutText(ClientMessage.cutText, text));
  }

  private receive(parser: ByteParser, data: Buffer): void {
    if (this.left) return;
    try {
      parser.push(data);
    } catch (error) {
      this.viewer.close(CLOSE_CODES.protocol, closeReason(messageOf(error)));
      return;
    }
    this.sendInput();
    if (this.request) this.view.requestUpdate();
    this.pump();
  }

  /** Sends whole messages in one step, so that those of several viewers never mix. */
  private sendInput(): void {
    const input = this.input;
    this.input = [];
    if (input.length > 0) this.view.sendInput(this.viewer, Buffer.concat(input));
  }

  private leave(): void {
    if (this.left) return;
    this.left = true;
    this.updates.close();
    const { keys, pointer } = this.held.release();
    for (const [keysym, keycode] of keys) this.input.push(this.view.keyMessage(false, keysym, keycode));
    if (pointer) this.input.push(pointerEvent(0, pointer.x, pointer.y));
    this.sendInput();
  }
}

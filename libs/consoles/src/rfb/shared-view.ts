import type { Viewer } from '../viewer.js';
import type { CursorShape } from './cursor-shape.js';
import type { Framebuffer } from './framebuffer.js';

/** A shared screen, as one of its viewers sees it. */
export interface SharedView {
  readonly screen: Framebuffer;
  /** Whether nothing has been drawn yet at this size. */
  readonly blank: boolean;
  readonly cursor: CursorShape | undefined;
  /** Whether the guest accepts key events that carry the key's position on the keyboard. */
  readonly qemuKeys: boolean;
  /** Asks the guest for its next change. */
  requestUpdate(): void;
  /** The message for a key event, in the form that the guest accepts. */
  keyMessage(down: boolean, keysym: number, keycode?: number): Buffer;
  /** Sends a viewer's messages to the guest. */
  sendInput(viewer: Viewer, messages: Buffer): void;
}

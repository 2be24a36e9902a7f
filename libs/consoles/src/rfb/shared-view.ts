import type { Viewer } from '../viewer.js';
import type { CursorShape } from './cursor-shape.js';
import type { Framebuffer } from './framebuffer.js';

/** A shared screen, as one who looks at it sees it. */
export interface SharedView {
  readonly screen: Framebuffer;
  /** Nothing has been drawn yet at this size. */
  readonly blank: boolean;
  readonly cursor: CursorShape | undefined;
  /** Whether the guest takes key events with places on the keyboard. */
  readonly qemuKeys: boolean;
  /** Somebody waits for what changes next. */
  wanted(): void;
  key(down: boolean, keysym: number, keycode?: number): Buffer;
  /** Hands a viewer's messages on to the guest. */
  act(viewer: Viewer, messages: Buffer): void;
}

/** A replacement for noVNC's RFB: it records calls and lets a test emit the server's events. */
export default class FakeRfb extends EventTarget {
  static opened: FakeRfb[] = [];
  viewOnly = false;
  scaleViewport = false;
  clipViewport = false;
  background = '';
  readonly keys: [number, string | null][] = [];
  readonly combinations: string[] = [];
  ctrlAltDels = 0;
  disconnected = false;

  constructor(
    readonly target: HTMLElement,
    readonly url: string,
  ) {
    super();
    FakeRfb.opened.push(this);
  }

  sendCtrlAltDel = (): void => void this.ctrlAltDels++;
  sendKey = (keysym: number, code: string | null): void => void this.keys.push([keysym, code]);
  toBlob = (callback: (image: Blob) => void): void => callback(new Blob(['image']));
  focus = (): void => undefined;
  disconnect = (): void => void (this.disconnected = true);
  emit = (event: string, detail: unknown = {}): void => void this.dispatchEvent(new CustomEvent(event, { detail }));
}

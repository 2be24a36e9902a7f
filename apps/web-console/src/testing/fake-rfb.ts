/** Stands where noVNC's RFB would: it records what it is told and lets a test play the server's part. */
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
  toBlob = (take: (picture: Blob) => void): void => take(new Blob(['picture']));
  focus = (): void => undefined;
  disconnect = (): void => void (this.disconnected = true);
  play = (event: string, detail: unknown = {}): void => void this.dispatchEvent(new CustomEvent(event, { detail }));
}

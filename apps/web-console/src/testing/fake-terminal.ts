/** A replacement for xterm's Terminal: it records the output and lets a test type. */
export class Terminal {
  static opened: Terminal[] = [];
  readonly columns = 80;
  readonly cols = 80;
  readonly rows = 24;
  options: Record<string, unknown>;
  written = '';
  disposed = false;
  private readonly onDataListeners: ((data: string) => void)[] = [];

  constructor(options: Record<string, unknown> = {}) {
    this.options = options;
    Terminal.opened.push(this);
  }

  attachCustomKeyEventHandler = (handler: (event: KeyboardEvent) => boolean): void => void (this.keys = handler);
  /** The handler that decides whether a key reaches the guest. */
  keys: (event: KeyboardEvent) => boolean = () => true;
  hasSelection = (): boolean => true;
  onSelectionChange = (listener: () => void) => {
    this.selectionChanged = listener;
    return { dispose: () => undefined };
  };
  private selectionChanged: () => void = () => undefined;
  /** The cells that the page has selected: column, row, length. */
  selected: readonly number[] = [];
  select = (column: number, row: number, length: number): void => {
    this.selected = [column, row, length];
    this.selectionChanged();
  };
  scrolledTo = 0;
  scrollToLine = (line: number): void => void (this.scrolledTo = line);
  /** The output, one row for each line. */
  get buffer() {
    const lines = this.written.split('\n');
    const getLine = (row: number) =>
      lines[row] === undefined ? undefined : { isWrapped: false, translateToString: () => lines[row] };
    return { active: { length: lines.length, getLine } };
  }
  loadAddon = (): void => undefined;
  open = (element: HTMLElement): void => void (element.textContent = 'terminal');
  focus = (): void => undefined;
  /** Whether output waits for `parse`, as in xterm while it is busy. */
  isBusy = false;
  private readonly unparsed: (() => void)[] = [];
  write = (data: Uint8Array | string, parsed?: () => void): void => {
    const text = typeof data === 'string' ? data : new TextDecoder().decode(data);
    this.unparsed.push(() => {
      this.written += text;
      if (text.includes('\u001b[6n')) this.type('\u001b[1;1R');
      parsed?.();
    });
    if (!this.isBusy) this.parse();
  };
  /** Like xterm, answers the query for the cursor's position. */
  parse = (): void => this.unparsed.splice(0).forEach((run) => run());
  onData = (listener: (data: string) => void) => {
    this.onDataListeners.push(listener);
    return { dispose: () => undefined };
  };
  onBinary = () => ({ dispose: () => undefined });
  onResize = () => ({ dispose: () => undefined });
  reset = (): void => void (this.written = '');
  getSelection = (): string => 'selected text';
  paste = (text: string): void => this.type(text);
  dispose = (): void => void (this.disposed = true);
  type = (text: string): void => this.onDataListeners.forEach((listener) => listener(text));
}

import { Color, Framebuffer, type Rectangle } from './framebuffer.js';

const BANNER_HEIGHT = 32;
const CELL = { width: 12, height: 18 };
const MARGIN = 12;
const LABEL = 'simulated guest';

/**
 * The contents of the graphical console: a banner that identifies the simulation, and a text terminal under it.
 * Viewers receive the rectangles that change.
 */
export class GuestScreen {
  readonly framebuffer = new Framebuffer(800, 600);
  private readonly lines: string[] = [''];
  private readonly viewers = new Set<(changed: Rectangle) => void>();
  /** The text that was written during a batch. */
  private batched: string[] | undefined;

  constructor(private readonly title: string) {
    this.redraw();
  }

  onChange(listener: (changed: Rectangle) => void): () => void {
    this.viewers.add(listener);
    return () => this.viewers.delete(listener);
  }

  /** Changes the size of the desktop, as a guest does when its graphics driver starts. */
  resize(width: number, height: number): void {
    this.framebuffer.resize(width, height);
    this.redraw();
  }

  clear(): void {
    if (this.batched) this.batched.length = 0;
    this.lines.splice(0, this.lines.length, '');
    this.redraw();
  }

  /** Draws the output of many small writes once, at the end. */
  batch(act: () => void): void {
    if (this.batched) return act();
    const batched: string[] = (this.batched = []);
    try {
      act();
    } finally {
      this.batched = undefined;
      if (batched.length > 0) this.write(batched.join(''));
    }
  }

  /** Prints text at the cursor. Interprets new line, carriage return and backspace. */
  write(text: string): void {
    if (this.batched) return void this.batched.push(text);
    const before = this.lines.length;
    for (const character of text) this.put(character);
    this.lines.splice(0, this.lines.length - this.rows);
    if (this.lines.length === before && !text.includes('\n')) this.redrawLine(this.lines.length - 1);
    else this.redrawBody();
  }

  /** The text on the terminal, for tests and for drawing. */
  get text(): string {
    return this.lines.join('\n');
  }

  private get rows(): number {
    return Math.floor((this.framebuffer.height - BANNER_HEIGHT - 2 * MARGIN) / CELL.height);
  }

  private get columns(): number {
    return Math.floor((this.framebuffer.width - 2 * MARGIN) / CELL.width);
  }

  private put(character: string): void {
    const last = this.lines.length - 1;
    if (character === '\n') this.lines.push('');
    else if (character === '\b') this.lines[last] = this.lines[last]!.slice(0, -1);
    else if (character >= ' ') {
      if (this.lines[last]!.length >= this.columns - 1) this.lines.push(character);
      else this.lines[last] += character;
    }
  }

  private redraw(): void {
    const { width, height } = this.framebuffer;
    this.framebuffer.fill({ x: 0, y: 0, width, height: BANNER_HEIGHT }, Color.blue);
    this.framebuffer.text(MARGIN, 9, `${this.title} - ${LABEL}`, Color.white);
    this.drawBody();
    this.changed({ x: 0, y: 0, width, height });
  }

  private redrawBody(): void {
    this.drawBody();
    const { width, height } = this.framebuffer;
    this.changed({ x: 0, y: BANNER_HEIGHT, width, height: height - BANNER_HEIGHT });
  }

  private drawBody(): void {
    const { width, height } = this.framebuffer;
    this.framebuffer.fill({ x: 0, y: BANNER_HEIGHT, width, height: height - BANNER_HEIGHT }, Color.night);
    this.lines.forEach((_line, index) => this.drawLine(index));
  }

  private redrawLine(index: number): void {
    const area = { x: 0, y: this.lineTop(index), width: this.framebuffer.width, height: CELL.height };
    this.framebuffer.fill(area, Color.night);
    this.drawLine(index);
    this.changed(area);
  }

  private drawLine(index: number): void {
    const line = this.lines[index]!;
    this.framebuffer.text(MARGIN, this.lineTop(index), line, Color.white);
    if (index < this.lines.length - 1) return;
    const x = MARGIN + line.length * CELL.width;
    this.framebuffer.fill({ x, y: this.lineTop(index), width: CELL.width - 2, height: 14 }, Color.green);
  }

  private lineTop(index: number): number {
    return BANNER_HEIGHT + MARGIN + index * CELL.height;
  }

  private changed(area: Rectangle): void {
    for (const viewer of this.viewers) viewer(area);
  }
}

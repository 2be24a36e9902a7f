import fc from 'fast-check';
import type { Story } from './story.js';
import type { Action, Sent } from './story-requests.js';

export interface StoryReal {
  readonly story: Story;
  /** Lets that much of the work go on. */
  wait(turns: number): Promise<void>;
  /** Kills one of the processes after so much more work, and starts it again, where that is part of the run. */
  kill(process: number, turns: number): Promise<void>;
}

type StoryCommand = fc.AsyncCommand<object, StoryReal>;

class Send implements StoryCommand {
  constructor(private readonly sent: Sent) {}

  check(): boolean {
    return true;
  }

  async run(_model: object, { story }: StoryReal): Promise<void> {
    story.send(this.sent);
  }

  toString(): string {
    const { caller, action, vm, snapshot } = this.sent;
    return `${caller}: ${action} ${vm === 0 ? 'a' : 'b'} ${snapshot}`;
  }
}

class Wait implements StoryCommand {
  constructor(private readonly turns: number) {}

  check(): boolean {
    return true;
  }

  async run(_model: object, { wait }: StoryReal): Promise<void> {
    await wait(this.turns);
  }

  toString(): string {
    return `wait ${this.turns}`;
  }
}

class Kill implements StoryCommand {
  constructor(
    private readonly process: number,
    private readonly turns: number,
  ) {}

  check(): boolean {
    return true;
  }

  async run(_model: object, { kill }: StoryReal): Promise<void> {
    await kill(this.process, this.turns);
  }

  toString(): string {
    return `kill ${this.process} after ${this.turns}`;
  }
}

/** Those that conflict most come most often. */
const ACTIONS: readonly Action[] = [
  ...(['clone', 'clone', 'create', 'delete', 'delete', 'snapshot', 'snapshot', 'restore', 'forget'] as const),
  ...(['start', 'stop', 'tag', 'tag', 'scale', 'migrate', 'template', 'folder'] as const),
];
const CALLERS = 3;
const MAX_TURNS = 60;

export function storyCommands({ maxCommands = 14, kills = false } = {}): fc.Arbitrary<Iterable<StoryCommand>> {
  const send = fc
    .record({
      action: fc.constantFrom(...ACTIONS),
      caller: fc.nat(CALLERS - 1),
      vm: fc.constantFrom<0 | 1>(0, 0, 1),
      snapshot: fc.constantFrom<0 | 1>(0, 1),
    })
    .map((sent) => new Send(sent));
  const wait = fc.nat(MAX_TURNS).map((turns) => new Wait(turns));
  const kill = fc
    .record({ process: fc.nat(CALLERS - 1), turns: fc.nat(MAX_TURNS) })
    .map(({ process, turns }) => new Kill(process, turns));
  // A process takes as long to start as many requests, so kills come seldom.
  const commands = kills ? [send, send, send, send, send, send, wait, wait, kill] : [send, send, send, wait];
  return fc.commands(commands, { maxCommands, size: 'max' });
}

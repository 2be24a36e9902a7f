import { ADMINISTRATOR, SystemClock, type Caller, type TaskDefinition } from '@headgate/domain-contracts';
import { TaskBoard } from '@headgate/tasks';
import { MemoryTaskStore } from '@headgate/testing';

const ann: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };

interface CopyInput {
  readonly from: string;
}

const undone: string[] = [];

const definition: TaskDefinition<CopyInput> = {
  kind: 'move',
  version: 1,
  steps: () => [
    {
      name: 'Copy',
      isCancelable: true,
      stallMs: 60_000,
      waitsFor: 'the copy',
      ifStalled: 'A copy may be left.',
      run: async ({ input, log }) => {
        log(`from ${input.from}`);
        if (input.from === 'broken') throw new Error('The source is broken.');
        return { bytes: 42 };
      },
    },
    {
      name: 'Verify',
      isCancelable: false,
      stallMs: 60_000,
      waitsFor: 'the comparison',
      ifStalled: 'The copy is complete.',
      run: async ({ result }) => ({ verified: result<{ bytes: number }>('Copy').bytes }),
    },
  ],
  resume: async () => ({ action: 'continue' }),
  rollback: async ({ input }) => void undone.push(input.from),
  result: ({ steps }) => ({ steps: steps.length }),
};

async function main(): Promise<void> {
  const store = new MemoryTaskStore();
  const board = new TaskBoard(store, new SystemClock());
  const copies = board.define(definition);
  const ids = [];
  for (const from of ['disk', 'broken']) {
    const id = await copies.start({ name: 'web', ref: 'vm/lab/default/web', input: { from } }, ann);
    await board.whenEnded(id);
    ids.push(id);
  }
  const ended = ids.map((id) => board.get(id));
  await board.close();
  console.log(
    JSON.stringify({
      statuses: ended.map(({ status }) => status),
      errors: ended.map(({ error }) => error),
      firstLine: ended[0]?.log.split('\n').find((line) => line.startsWith('from')),
      undone,
    }),
  );
}

void main();

import { CreateVmDto, MoveDto } from '@headgate/api-contracts';
import { verifyProof } from '@headgate/api-contracts/verify-proof';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';

const messagesOf = (errors: readonly ValidationError[]): string[] =>
  errors.flatMap(({ constraints, children }) => [...Object.values(constraints ?? {}), ...messagesOf(children ?? [])]);

const refusals = (type: new () => object, body: object): string[] =>
  messagesOf(validateSync(plainToInstance(type, body)));

const nested = plainToInstance(MoveDto, {
  ref: 'vm/lab/default/web',
  toBackend: 'libvirt',
  mapping: { networks: { default: 'lan' } },
});
async function main(): Promise<void> {
  const verdict = await verifyProof({ kind: 'something else' });
  console.log(
    JSON.stringify({
      valid: refusals(CreateVmDto, { name: 'web', mem: '4Gi', containerDisk: 'registry.example.org/images/debian:12' }),
      invalid: refusals(CreateVmDto, { name: 'web', mem: 'much' }),
      nested: nested.mapping?.constructor.name,
      isProof: verdict.isValid,
    }),
  );
}

void main();

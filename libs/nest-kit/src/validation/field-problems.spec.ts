import 'reflect-metadata';
import { plainToInstance, Type } from 'class-transformer';
import { IsIn, IsInt, IsString, ValidateNested, validateSync } from 'class-validator';
import { fieldProblems } from './field-problems.js';

class Pin {
  @IsInt() vcpu = 0;
  @IsString() @IsIn(['0', '1'], { message: '$property must be a CPU of the host.' }) cpus = '0';
}

class Placement {
  @ValidateNested({ each: true }) @Type(() => Pin) vcpus: Pin[] = [];
  @ValidateNested() @Type(() => Pin) emulator = new Pin();
  @IsString({ message: '$property must be a name of the host, not a node-name.' }) node = 'a';
  @IsString({ each: true }) nodes: string[] = [];
  @IsString({ each: true, message: 'Each node needs a name.' }) names: string[] = [];
}

const WORDS = { unknown: 'is not a known field', notNested: 'must be an object' };

const problems = (raw: object, parent?: string) => {
  const errors = validateSync(plainToInstance(Placement, raw), { whitelist: true, forbidNonWhitelisted: true });
  return fieldProblems(errors, WORDS, parent);
};
const messages = (raw: object, parent?: string) => problems(raw, parent).map(({ message }) => message);

describe('the problems of fields', () => {
  test('name items of lists and nested fields by their paths', () => {
    expect(problems({ vcpus: [{}, { cpus: '7' }], emulator: { vcpu: 1.5 } })).toEqual([
      { field: 'vcpus[1].cpus', rule: 'isIn', message: 'vcpus[1].cpus must be a CPU of the host' },
      { field: 'emulator.vcpu', rule: 'isInt', message: 'emulator.vcpu must be an integer number' },
    ]);
    expect(messages({ emulator: { vcpu: 'x' } }, 'placement')).toEqual([
      'placement.emulator.vcpu must be an integer number',
    ]);
  });

  test('are all that a field has', () => {
    expect(messages({ vcpus: [{ cpus: 7 }] })).toEqual([
      'vcpus[0].cpus must be a CPU of the host',
      'vcpus[0].cpus must be a string',
    ]);
  });

  test('use the words of the caller for unknown fields and values without fields', () => {
    expect(messages({ emulator: { cpu: '0' }, vcpus: ['0'] })).toEqual([
      'vcpus[0] must be an object',
      'emulator.cpu is not a known field',
    ]);
    expect(messages({ emulator: 7, numa: {} }, 'placement')).toEqual([
      'placement.numa is not a known field',
      'placement.emulator must be an object',
    ]);
  });

  test('have the path in place of the name of the property, and only there', () => {
    expect(messages({ node: 7, nodes: [7], names: 7 }, 'numa')).toEqual([
      'numa.node must be a name of the host, not a node-name',
      'each value in numa.nodes must be a string',
      'Each node needs a name',
    ]);
  });

  test('are not found in an object that is right', () => {
    expect(problems({ vcpus: [{ vcpu: 1, cpus: '1' }], node: 'b' })).toEqual([]);
  });
});

import { isInstanceName } from '@headgate/domain-contracts';
import { instanceNameOf } from './instance-name.js';
import { parseDomainList } from '../virsh/virsh-domains.js';

const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';

describe('instanceNameOf', () => {
  test('keeps a name that the API allows', () => expect(instanceNameOf('web-1', UUID)).toBe('web-1'));

  test.each(['Win 10', 'web_1', 'über', '-', 'a'.repeat(80), '../../etc'])(
    'converts %j to a name that the API allows',
    (name) => {
      const shown = instanceNameOf(name, UUID);
      expect(isInstanceName(shown)).toBe(true);
      expect(shown.endsWith('-2c749204')).toBe(true);
    },
  );
});

describe('parseDomainList', () => {
  test('parses virsh output, including names with spaces', () => {
    expect(parseDomainList(` ${UUID} Win 10 \n6f1b0b45-9d35-4e1b-8a0f-0c5f4f9d5a11 web\n\n`)).toEqual([
      { uuid: UUID, name: 'Win 10' },
      { uuid: '6f1b0b45-9d35-4e1b-8a0f-0c5f4f9d5a11', name: 'web' },
    ]);
  });
});

import {
  DomainError,
  formatBytes,
  formatRef,
  matchesNameRule,
  DNS_LABEL_RULE,
  parseRef,
  type InstanceRef,
} from '@headgate/domain-contracts';

const ref: InstanceRef = parseRef('vm/lab/default/web');
// @ts-expect-error a ref is an object
const _wrong = () => formatRef('vm/lab/default/web');

let code = '';
try {
  parseRef('web');
} catch (error) {
  if (DomainError.is(error, 'INVALID_REF')) code = error.code;
}
console.log(
  JSON.stringify({
    name: ref.name,
    text: formatRef({ ...ref, name: 'db' }),
    code,
    size: formatBytes(20 * 1024 ** 3),
    isName: matchesNameRule(DNS_LABEL_RULE, 'web-'),
  }),
);

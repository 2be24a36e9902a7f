import { t } from '@lingui/core/macro';
import { nameProblem } from '../../shared/names/name-rule.js';
import { cloudInitText } from './cloud-init.js';
import { vmProblems, type VmField, type VmForm } from './vm-form.js';

const SIZE_FIELDS: readonly VmField[] = ['cpu', 'mem', 'disk'];

/** The sections of the page, and whether each of them is done. */
export function sectionsOf(form: VmForm) {
  const problems = vmProblems(form);
  return [
    { id: 'source', title: t`Where from`, isDone: problems[form.source] === undefined },
    { id: 'size', title: t`Size`, isDone: SIZE_FIELDS.every((field) => problems[field] === undefined) },
    { id: 'place', title: t`Place`, isDone: nameProblem(form.name) === undefined },
    { id: 'boot', title: t`First boot`, isDone: cloudInitText(form.cloudInit) !== '' },
  ] as const;
}

import { t } from '@lingui/core/macro';
import type { AccessQueryDto } from '@headgate/api-contracts';
import type { SubjectKind } from './role-form.js';

export type AccessQuestion = AccessQueryDto;

/** The texts of the form of a question. */
export interface QuestionForm {
  readonly subjectKind: SubjectKind;
  /** Empty for the user of the page. */
  readonly subject: string;
  readonly object: 'everything' | 'folder' | 'instance';
  readonly folder: string;
  /** The ref of an instance. */
  readonly instance: string;
}

export const EMPTY_QUESTION: QuestionForm = {
  subjectKind: 'user',
  subject: '',
  object: 'everything',
  folder: '',
  instance: '',
};

const REF = /^(vm|ct)\/([^/\s]+)\/([^/\s]+)\/([^/\s]+)$/;

function instanceOf(ref: string): AccessQuestion | undefined {
  const [, kind, ...parts] = REF.exec(ref.trim()) ?? [];
  try {
    const [context, ns, name] = parts.map(decodeURIComponent);
    if ((kind !== 'vm' && kind !== 'ct') || !context || !ns || !name) return undefined;
    return { kind, context, ns, name };
  } catch {
    // A % that begins no character.
    return undefined;
  }
}

export function questionOf({ subjectKind, subject, object, folder, instance }: QuestionForm): AccessQuestion {
  return {
    ...(subject.trim() !== '' && { [subjectKind]: subject.trim() }),
    ...(object === 'folder' && { folder: folder.trim() }),
    ...(object === 'instance' && instanceOf(instance)),
  };
}

/** Why the form can't be sent; undefined if it can. */
export function problemOf({ subjectKind, subject, object, folder, instance }: QuestionForm): string | undefined {
  if (subjectKind === 'group' && subject.trim() === '') return t`Enter a group first.`;
  if (object === 'folder' && folder.trim() === '') return t`Enter a folder first.`;
  if (object === 'instance' && instanceOf(instance) === undefined)
    return t`Enter the ref of an instance first, such as vm/prod/default/web-1.`;
  return undefined;
}

import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import { ACCESS_REVIEWS } from '../api/resources.js';
import { RBAC_RULES, type RbacRule } from '../rbac.js';

interface AccessReview extends KubeObject {
  readonly status?: { readonly allowed?: boolean };
}

/** The verbs that the account lacks, such as `create pods`; one question per resource and its most telling verb. */
export async function missingRights(api: KubeApi, served: (group: string) => boolean): Promise<string[]> {
  const questions = RBAC_RULES.filter(({ apiGroups: [group = ''] }) => served(group)).flatMap(questionsOf);
  const answers = await Promise.all(
    questions.map(async (question) => ((await isAllowed(api, question)) ? [] : [question])),
  );
  return answers.flat().map(({ verb, resource, group }) => `${verb} ${resource}${group && `.${group}`}`);
}

interface Question {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
}

const questionsOf = ({ apiGroups: [group = ''], resources, verbs }: RbacRule): Question[] =>
  resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb })));

async function isAllowed(api: KubeApi, { group, resource, verb }: Question): Promise<boolean> {
  const [name, subresource] = resource.split('/');
  const resourceAttributes = { group, resource: name, subresource, verb };
  const review = await api.create<AccessReview>(ACCESS_REVIEWS, {
    metadata: {},
    spec: { resourceAttributes },
  } as KubeObject);
  return review.status?.allowed === true;
}

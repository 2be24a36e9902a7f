import { denied, type KubeObject, validateSchema } from '@headgate/kube-sandbox';
import type { SimulationContext } from '../simulation-context.js';

const QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/**
 * KubeVirt's mutating webhooks check an object against the schema before the API server does: its required fields and
 * its types. They decode it then, which fails for a malformed quantity.
 * @throws ApiError 422, 400
 */
export function refuseMalformed(context: SimulationContext, webhook: string, object: KubeObject): void {
  const schema = context.registry.get(context.resourceOf(object)).versions[0]?.schema;
  const causes = schema ? validateSchema(object, schema) : [];
  const messages = causes.flatMap(({ reason, field, message }) => {
    if (reason === 'FieldValueRequired') return [`${field} in body is required`];
    return reason === 'FieldValueTypeInvalid' ? [message.replace(/^Invalid value: "\w+": /, '')] : [];
  });
  if (messages.length > 0) throw denied(webhook, { causes: messages.map((message) => ({ message })) });
  if (causes.some(({ message }) => message.includes("in body should match '^(\\+|-)?(([0-9]+"))) {
    throw denied(webhook, { message: QUANTITY });
  }
}

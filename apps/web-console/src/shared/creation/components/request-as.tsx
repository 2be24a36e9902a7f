import { t } from '@lingui/core/macro';
import { useId } from 'react';
import { useRemembered } from '../../storage/remembered.js';
import { CopyButton } from '../../ui/copy.js';
import { Tabs } from '../../ui/tabs.js';
import { REQUEST_FORMATS, requestText, type RequestFormat, type ShownRequest } from '../request-texts.js';

interface RequestAsProps extends ShownRequest {
  /** A text that is shown as dots. It is copied nevertheless. */
  secret?: string | undefined;
}

/** The request that the button sends, for a script or a repository. */
export function RequestAs({ secret = '', ...request }: RequestAsProps) {
  const [chosen, setChosen] = useRemembered<RequestFormat>('request-format', 'curl');
  const format = chosen in REQUEST_FORMATS ? chosen : 'curl';
  const id = useId();
  const text = requestText(format, request);
  // As it is in a string of YAML, and in that of a string of JSON.
  const written = JSON.stringify(secret).slice(1, -1);
  const hidden = [JSON.stringify(written).slice(1, -1), written];
  const shown = secret === '' ? text : hidden.reduce((left, one) => left.replaceAll(one, '••••'), text);
  return (
    <section className="hg-request" aria-label={t`The same as a request`}>
      <header>
        <h3>{t`The same as a request`}</h3>
        <Tabs label={t`Format`} tabs={REQUEST_FORMATS} active={format} panelId={id} onSelect={setChosen} />
      </header>
      <pre id={id} role="tabpanel" aria-label={REQUEST_FORMATS[format]} tabIndex={0} className="hg-code-block">
        {shown}
      </pre>
      <CopyButton isSmall label={t`Copy`} text={text} />
    </section>
  );
}

import { Button } from '../../src/shared/ui/button.js';
import { Copyable, CopyButton } from '../../src/shared/ui/copy.js';
import { Icon } from '../../src/shared/ui/icon.js';
import { ReasonedButton } from '../../src/shared/ui/reasoned-button.js';
import { ReloadButton } from '../../src/shared/ui/reload-button.js';
import { doNothing, Section, State } from '../demo.js';

const VARIANTS = ['primary', 'secondary', 'danger', 'link', 'plain'] as const;

export const Buttons = () => (
  <Section title="Buttons">
    <State name="Variants">
      {VARIANTS.map((variant) => (
        <Button key={variant} variant={variant}>
          {variant}
        </Button>
      ))}
    </State>
    <State name="Small">
      {VARIANTS.map((variant) => (
        <Button key={variant} variant={variant} isSmall>
          {variant}
        </Button>
      ))}
    </State>
    <State name="With an icon">
      <Button icon={<Icon name="restart" />}>Restart</Button>
      <Button variant="secondary" icon={<Icon name="copy" />}>
        Clone
      </Button>
    </State>
    <State name="Working">
      <Button isLoading>Apply</Button>
      <Button variant="secondary" isLoading>
        Apply
      </Button>
    </State>
    <State name="Disabled">
      <Button isDisabled>Apply</Button>
      <Button variant="secondary" isDisabled>
        Apply
      </Button>
    </State>
    <State name="Off, with a reason">
      <ReasonedButton variant="secondary" reason="The VM is running. Shut it down first.">
        Start
      </ReasonedButton>
    </State>
    <State name="Reload">
      <ReloadButton isLoading={false} onReload={doNothing} />
      <ReloadButton isLoading onReload={doNothing} />
    </State>
    <State name="Copy">
      <CopyButton text="curl http://127.0.0.1:8006/api/vms" label="Copy as curl" />
      <Copyable text="10.0.0.7" what="the address" />
    </State>
  </Section>
);

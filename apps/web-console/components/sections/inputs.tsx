import { useState } from 'react';
import { Field, helpId } from '../../src/shared/ui/field.js';
import { SearchInput, SelectInput, Switch, TextArea, TextInput } from '../../src/shared/ui/inputs.js';
import { LabeledInput } from '../../src/shared/ui/labeled-input.js';
import { Section, State } from '../demo.js';

export function Inputs() {
  const [name, setName] = useState('web-1');
  const [wrong, setWrong] = useState('Web 1');
  const [search, setSearch] = useState('');
  const [size, setSize] = useState('small');
  const [note, setNote] = useState('');
  const [isOn, setIsOn] = useState(true);
  return (
    <Section title="Fields">
      <State name="Text, with a hint">
        <Field label="Name" id="demo-name" required hint="Lowercase letters, digits and hyphens.">
          <TextInput id="demo-name" value={name} onChange={setName} aria-describedby={helpId('demo-name')} />
        </Field>
      </State>
      <State name="Text, with a problem">
        <Field label="Name" id="demo-wrong" problem="Use lowercase letters, digits and hyphens only.">
          <TextInput
            id="demo-wrong"
            value={wrong}
            isInvalid
            onChange={setWrong}
            aria-describedby={helpId('demo-wrong')}
          />
        </Field>
      </State>
      <State name="Text, disabled">
        <LabeledInput label="Namespace" value="tailvm" isDisabled onChange={setName} />
      </State>
      <State name="Several lines">
        <Field label="Note" id="demo-note">
          <TextArea id="demo-note" rows={3} value={note} onChange={setNote} />
        </Field>
      </State>
      <State name="Choice">
        <Field label="Size" id="demo-size">
          <SelectInput id="demo-size" value={size} onChange={setSize}>
            <option value="small">2 CPUs, 4 GiB</option>
            <option value="large">8 CPUs, 32 GiB</option>
          </SelectInput>
        </Field>
      </State>
      <State name="Search">
        <SearchInput aria-label="Search VMs" value={search} onChange={setSearch} />
        <SearchInput aria-label="Search images" value="debian" onChange={setSearch} />
      </State>
      <State name="Switch">
        <Switch id="demo-on" label="Start with the host" isChecked={isOn} onChange={setIsOn} />
        <Switch id="demo-off" label="Protect from deletion" isChecked={!isOn} onChange={() => setIsOn(!isOn)} />
      </State>
    </Section>
  );
}

import { Data } from '../../src/shared/ui/data.js';
import { Facts } from '../../src/shared/ui/facts.js';
import { ServiceText } from '../../src/shared/ui/service-text.js';
import { numeric, Table } from '../../src/shared/ui/table.js';
import { Section, State } from '../demo.js';

const DISKS = [
  { name: 'root', size: '20 GiB' },
  { name: 'data', size: '200 GiB' },
];

export const DataOfObjects = () => (
  <Section title="Facts and tables">
    <State name="Facts">
      <Facts
        className="hg-facts"
        facts={{
          Address: <Data>10.0.0.7</Data>,
          Node: <Data>node-1</Data>,
          Condition: <ServiceText>Ready</ServiceText>,
        }}
      />
    </State>
    <State name="Table">
      <Table label="Disks" columns={['Disk', numeric('Size')]}>
        {DISKS.map(({ name, size }) => (
          <tr key={name}>
            <td translate="no">{name}</td>
            <td className="hg-numeric">{size}</td>
          </tr>
        ))}
      </Table>
    </State>
  </Section>
);

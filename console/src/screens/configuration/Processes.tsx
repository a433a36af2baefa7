import type { ConfigurationStatus } from '../../api/status.ts'
import { Card } from '../../parts/Card.tsx'
import { Status } from '../../parts/Status.tsx'
import { words } from './words.ts'
import classes from './configuration.module.css'

/** The processes that share the database, and which version each runs. */
export function Processes({ processes }: Pick<ConfigurationStatus, 'processes'>) {
  return (
    <Card title={words.processes}>
      <table className={classes.table}>
        <caption className="visually-hidden">{words.processes}</caption>
        <thead>
          <tr>
            <th scope="col">{words.process}</th>
            <th scope="col">{words.version}</th>
            <th scope="col">{words.state}</th>
          </tr>
        </thead>
        <tbody>
          {processes.map(({ id, version, current }) => (
            <tr key={id}>
              <td>
                <code title={id}>{id.slice(0, 8)}</code>
              </td>
              <td>
                <code title={version}>{version.slice(0, 8)}</code>
              </td>
              <td>
                <Status state={current ? 'good' : 'warning'}>{current ? words.current : words.other}</Status>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

/**
 * `sluice events`: what happened, and who hears of it.
 */
import { json, owner, paging } from '../session/choices.ts'
import type { Noun } from '../session/tree.ts'

const type = { flags: '--type <name>', about: 'only events of this name' }

export const events: Noun = {
  name: 'events',
  about: 'what happened: list, publish, tail',
  leaves: [
    {
      usage: 'list',
      about: 'what was published, newest first',
      choices: [type, owner, ...paging.slice(0, 1), { flags: '--before <id>', about: 'older than this event' }],
      examples: [['sluice events list --type order.paid -n 20', 'the last twenty of one name']],
      load: async () => (await import('./show-events.ts')).listEvents,
    },
    {
      usage: 'publish <name>',
      deed: 'events.publish',
      about: 'publish an event: each subscriber gets a job',
      choices: [{ flags: '-p, --payload <json>', about: 'what it says (default {})', read: json }, owner],
      examples: [[`sluice events publish order.paid --payload '{"id":7}'`, 'prints the id of the event']],
      load: async () => (await import('./publish-event.ts')).publishEvent,
    },
    {
      usage: 'tail',
      about: 'follow what is published, a line an event',
      choices: [type, owner],
      note: 'With --json each line is a document. Ends with Ctrl-C.',
      examples: [['sluice events tail --type order.paid --json', 'for a program that reads lines']],
      load: async () => (await import('./tail-events.ts')).tailEvents,
    },
  ],
}

/** What a line looks like, and what never is in one. */
import { expect, test } from 'vitest'
import { createTelemetry, type TelemetryOptions } from './telemetry.ts'

function telemetryOn(lines: string[], options: TelemetryOptions = {}): ReturnType<typeof createTelemetry> {
  return createTelemetry({ ...options, destination: { write: (line) => void lines.push(line) } })
}

test('[O-07] a line is a JSON object with level, time in UTC, event and fields', () => {
  const lines: string[] = []
  telemetryOn(lines).engineLog.warn('job rescued', { rescued: 2 })
  expect(lines).toHaveLength(1)
  expect(lines[0]?.endsWith('\n')).toBe(true)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    msg: 'job rescued',
    rescued: 2,
    pid: process.pid,
  })
})

test('[O-07] for people a line is short, and written at once', () => {
  const lines: string[] = []
  telemetryOn(lines, { pretty: true }).log.info({ job: 7 }, 'job done')
  expect(lines).toEqual([expect.stringMatching(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: job done \{"job":7\}\n$/)])
})

test('[O-07] levels hold, and lines about single jobs are asked for only where they would be seen', () => {
  const lines: string[] = []
  const quiet = telemetryOn(lines, { level: 'warn' })
  quiet.engineLog.info('leading')
  quiet.engineLog.debug?.('promoter slept')
  expect(lines).toEqual([])
  expect(quiet.engineLog.jobs).toBe(false)
  expect(telemetryOn(lines).engineLog.jobs).toBe(true)
})

test.each([false, true])('[O-10] secrets are in no line, by field or by value (pretty: %s)', (pretty) => {
  const lines: string[] = []
  const telemetry = telemetryOn(lines, { pretty })
  telemetry.hide('correct horse')
  telemetry.log.info(
    { password: 'x1', req: { headers: { authorization: 'x2', cookie: 'x3' } }, nested: { token: 'x4' } },
    'asked',
  )
  telemetry.log.error(new Error('refused: correct horse'), 'token correct horse')
  telemetry.engineLog.error('failed', {
    url: 'postgresql://me:battery@h/d',
    basic: Buffer.from('u:correct horse').toString('base64'),
  })
  const all = lines.join('')
  expect(lines).toHaveLength(3)
  for (const value of ['x1', 'x2', 'x3', 'x4', 'correct horse', 'battery', Buffer.from('correct horse').toString('base64')])
    expect(all).not.toContain(value)
  expect(all).toContain('[redacted]')
})

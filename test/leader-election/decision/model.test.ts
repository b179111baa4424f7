// Runs electors in simulated clusters with random failures. MODEL_SEED is the first seed, and MODEL_ROUNDS is the
// number of simulations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World, type Weather } from '../support/world.ts';

const { MODEL_SEED: seed = '1', MODEL_ROUNDS: rounds = '40' } = process.env;
const minutes = 20;

const fair: Weather = {
  lostRequests: 0,
  lostReplies: 0,
  failures: 0,
  longestDelay: 100,
  pauses: 0,
  suspensions: 0,
  wallSteps: 0,
  outages: 0,
  edits: 0,
  stops: 0.01,
  watches: 0,
};

const bad: Weather = {
  lostRequests: 0.05,
  lostReplies: 0.1,
  failures: 0.05,
  longestDelay: 20_000,
  pauses: 0.005,
  suspensions: 0.002,
  wallSteps: 0.002,
  outages: 0.003,
  edits: 0.02,
  stops: 0.005,
  watches: 0.01,
};

const stepping: Weather = { ...bad, suspensions: 0, wallSteps: 0.01 };

for (const [name, weather] of Object.entries({ fair, bad, stepping })) {
  test(`L-093, L-095, L-125, L-131 in a simulation with ${name} conditions, no two electors lead at the same time, and each new leader gets a greater fencing token`, () => {
    let [terms, takeovers] = [0, 0];
    for (let round = Number(seed); round < Number(seed) + Number(rounds); round++) {
      const outcome = new World(round, 2 + (round % 4), weather).run(minutes * 60_000);
      assert.deepEqual(outcome.problems, [], `MODEL_SEED=${String(round)} MODEL_ROUNDS=1 repeats this simulation`);
      terms += outcome.terms;
      takeovers += outcome.takeovers;
    }
    assert.ok(terms >= Number(rounds) * 5, `${String(terms)} terms in ${rounds} simulations`);
    assert.ok(takeovers >= Number(rounds) * 5, `${String(takeovers)} changes of holder in ${rounds} simulations`);
  });
}

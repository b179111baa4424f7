import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule, type HealthCheckResult } from '@nestjs/terminus';
import { AppModule } from './app.js';

@Controller('health')
class HealthController {
  constructor(private readonly health: HealthCheckService) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => ({ database: { status: 'up' } })]);
  }
}

@Module({
  imports: [TerminusModule.forRoot({ gracefulShutdownTimeoutMs: 500, logger: false }), AppModule],
  controllers: [HealthController],
})
export class HealthModule {}

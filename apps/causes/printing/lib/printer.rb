# frozen_string_literal: true

# The printer takes one label after another.
class Printer
  Job = Struct.new(:text, :label)

  def initialize
    @queue = Queue.new
    @thread = Thread.new { work(@queue.pop) while true }
  end

  def print(text)
    job = Job.new(text)
    @queue << job
    job
  end

  def done?(job) = !job.label.nil?

  def take(job) = job.label

  private

  def work(job)
    job.label = "^XA^FO50,50^FD#{job.text.upcase}^FS^XZ"
  end
end
